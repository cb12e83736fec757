package rules

import (
	"net"
	"net/url"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func plainHttp() *lint.Rule {
	return &lint.Rule{
		Name: "plain-http", Summary: "Connection without protection", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "Anybody between the host and the server can read what is fetched over `http://` and change it; a token that is sent along is theirs.\n" +
			"Write `https://`. On the host itself (`localhost`, `127.0.0.1`) nobody is in between.",
		Bad: `
wait_for "api" {
  url = «"http://api.example/healthz"»
}
`,
		Good: `
wait_for "api" {
  url = "https://api.example/healthz"
}
`,
		Check: checkPlainHTTP,
	}
}

func checkPlainHTTP(p *lint.Pass) {
	p.EachArg(func(s *eval.Inspected, _ *eval.Arguments, arg eval.Arg) {
		text, ok := arg.Text()
		if arg.Schema.Grammar != "URL" && arg.Schema.Name != "image" && arg.Schema.Name != "url" || !ok || !strings.HasPrefix(text, "http://") {
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() || lint.Holes(text) {
			return
		}
		p.Claim(lint.Found(s, arg.Range, "Anybody on the way to %s can read and change what is fetched. Write https://.", u.Hostname()), "Plain http without a digest")
	})
}
