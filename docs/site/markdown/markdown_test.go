package markdown

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for text, want := range map[string]string{
		"# A `b` c\n\n## A b c\n\n## Twice\n\n## Twice":  `<h1 id="a-b-c">A <code>b</code> c</h1> <h2 id="a-b-c-1">A b c</h2> <h2 id="twice">Twice</h2> <h2 id="twice-1">Twice</h2>`,
		"one\ntwo\n\nthree":                              "<p>one two</p> <p>three</p>",
		"a <b> & \"c\"":                                  "<p>a &lt;b&gt; &amp; &#34;c&#34;</p>",
		"**a b** and *c* and 2 * 3 * 4":                  "<p><strong>a b</strong> and <em>c</em> and 2 * 3 * 4</p>",
		"`a*b*` and ``x`y`` and `open":                   "<p><code>a*b*</code> and <code>x`y</code> and `open</p>",
		"[a `b`](c.md#d) <https://e.example/f>":          `<p><a href="c.md#d">a <code>b</code></a> <a href="https://e.example/f">https://e.example/f</a></p>`,
		"[a](javascript:x) [b] (c) \\[d](e)":             "<p>a [b] (c) [d](e)</p>",
		"[x [y] z](u)":                                   `<p><a href="u">x [y] z</a></p>`,
		"* a\n* b\n  more\n\n  still\n* c\n\nd":          "<ul> <li>a</li> <li>b more <p>still</p> </li> <li>c</li> </ul> <p>d</p>",
		"* a\n  * b\n  * c\n* d":                         "<ul> <li>a <ul> <li>b</li> <li>c</li> </ul> </li> <li>d</li> </ul>",
		"1. a\n2. b\nlazy\n\n# c":                        `<ol> <li>a</li> <li>b lazy</li> </ol> <h1 id="c">c</h1>`,
		"* a\n\n  ```\n  b\n  ```\n":                     `<ul> <li>a <pre><code class="language-">b</code></pre> </li> </ul>`,
		"| a | b |\n|---|:-:|\n| `x\\|y` | **z** |\nend": `<div class="table"><table> <thead><tr><th>a</th><th>b</th></tr> </thead> <tbody> <tr><td><code>x|y</code></td><td><strong>z</strong></td></tr> </tbody> </table></div> <p>end</p>`,
		"| no table":                                     "<p>| no table</p>",
		"> a\n> b\n\nc":                                  "<blockquote> <p>a b</p> </blockquote> <p>c</p>",
		"```hcl\na = \"<b>\"\n\n# c\n```":                `<pre><code class="language-hcl">a = &#34;&lt;b&gt;&#34; # c</code></pre>`,
		"```\nopen":                                      `<pre><code class="language-">open</code></pre>`,
		"#no heading\n####### none":                      "<p>#no heading ####### none</p>",
		"<script>alert(1)</script>":                      "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
	} {
		page := Render(text, Options{})
		if got := strings.Join(strings.Fields(page.HTML), " "); got != want {
			t.Errorf("%q\nmade %s\nwant %s", text, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	page := Render("# T\n\n[a](b.md) [c](../d)\n\n```x\ny\n```\n", Options{
		Link: func(target string) (string, bool) {
			return strings.Replace(target, ".md", ".html", 1), target != "../d"
		},
		Code: func(language, text string) string { return language + ":" + text },
	})
	want := `<h1 id="t">T</h1> <p><a href="b.html">a</a> c</p> <pre><code class="language-x">x:y</code></pre>`
	if got := strings.Join(strings.Fields(page.HTML), " "); got != want {
		t.Errorf("made %s", got)
	}
	if page.Title != "T" || len(page.Links) != 2 || page.Links[1] != "../d" || page.Headings[0] != (Heading{1, "T", "t"}) {
		t.Errorf("page %+v", page)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n* b\n  * c\n|x|\n|-|\n> q\n```\n[l](m) **n** `o`")
	f.Fuzz(func(t *testing.T, text string) {
		page := Render(text, Options{})
		if strings.Contains(page.HTML, "<script") || strings.Count(page.HTML, "<ul>") != strings.Count(page.HTML, "</ul>") {
			t.Fatal(page.HTML)
		}
	})
}
