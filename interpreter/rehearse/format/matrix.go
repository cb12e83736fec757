package format

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"hostler/interpreter/rehearse"
	"hostler/interpreter/report"
)

// MatrixNames are the forms of a matrix, the default first.
func MatrixNames() []string { return []string{"text", "json", "html"} }

// MatrixDocument is the JSON document of matrix.
type MatrixDocument struct {
	FormatVersion string      `json:"format_version"`
	Images        []string    `json:"images"`
	Recipes       []MatrixRow `json:"recipes"`
}

// MatrixRow is one recipe.
type MatrixRow struct {
	Name  string       `json:"name"`
	Cells []MatrixCell `json:"cells" doc:"one an image, in the order of images"`
}

// MatrixCell is one recipe on one image.
type MatrixCell struct {
	Image   string `json:"image"`
	Verdict string `json:"verdict" doc:"unsupported, supported (by its os-release), ready (all requirements are met), unmet, or invalid"`
	Support string `json:"support,omitempty" doc:"label of the supports block that matches"`
	Reason  string `json:"reason,omitempty"`
}

// WriteMatrix writes a matrix in a form.
func WriteMatrix(w io.Writer, name string, m rehearse.Matrix) error {
	switch name {
	case "text":
		return matrixText(w, m)
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(matrixDocument(m))
	case "html":
		return matrixPage(w, matrixDocument(m))
	}
	return fmt.Errorf("there is no output %q", name)
}

func matrixDocument(m rehearse.Matrix) MatrixDocument {
	doc := MatrixDocument{FormatVersion: report.FormatVersion, Images: append([]string{}, m.Images...), Recipes: []MatrixRow{}}
	for i, name := range m.Recipes {
		row := MatrixRow{Name: name, Cells: []MatrixCell{}}
		for j, c := range m.Cells[i] {
			row.Cells = append(row.Cells, MatrixCell{m.Images[j], string(c.Verdict), c.Support, c.Reason})
		}
		doc.Recipes = append(doc.Recipes, row)
	}
	return doc
}

// sign is how a verdict looks in a table.
func sign(v rehearse.Verdict) string {
	switch v {
	case rehearse.Ready:
		return "ready"
	case rehearse.Supported:
		return "supported"
	case rehearse.Unsupported:
		return "-"
	}
	return string(v)
}

// matrixText writes images as rows, which are many, and why something is not
// met below.
func matrixText(w io.Writer, m rehearse.Matrix) error {
	width := len("image")
	for _, name := range m.Images {
		width = max(width, len(name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s", width, "image")
	for _, name := range m.Recipes {
		fmt.Fprintf(&b, "  %-*s", max(len(name), len("unsupported")), name)
	}
	for j, name := range m.Images {
		fmt.Fprintf(&b, "\n%-*s", width, name)
		for i, recipe := range m.Recipes {
			fmt.Fprintf(&b, "  %-*s", max(len(recipe), len("unsupported")), sign(m.Cells[i][j].Verdict))
		}
	}
	b.WriteString("\n")
	for i, recipe := range m.Recipes {
		for j, c := range m.Cells[i] {
			if c.Reason != "" {
				fmt.Fprintf(&b, "\n%s on %s: %s\n", recipe, m.Images[j], c.Reason)
			}
		}
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// matrixPage writes a page that stands alone.
func matrixPage(w io.Writer, doc MatrixDocument) error {
	var b strings.Builder
	b.WriteString(matrixHead)
	for _, image := range doc.Images {
		b.WriteString("<th>" + html.EscapeString(image) + "</th>")
	}
	b.WriteString("</tr>\n")
	for _, row := range doc.Recipes {
		b.WriteString("<tr><th>" + html.EscapeString(row.Name) + "</th>")
		for _, c := range row.Cells {
			title := ""
			if c.Reason != "" {
				title = ` title="` + html.EscapeString(c.Reason) + `"`
			}
			verdict := html.EscapeString(c.Verdict)
			b.WriteString(`<td class="` + verdict + `"` + title + ">" + verdict + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

const matrixHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Recipes and images</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #bbb; padding: .3em .6em; text-align: left; }
.ready { background: #d9f2d9; } .supported { background: #eef7ee; }
.unmet, .invalid { background: #f7d9d9; } .unsupported { color: #888; }
</style>
</head>
<body>
<h1>Recipes and images</h1>
<table>
<tr><th>recipe</th>`
