package format

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/lint"
)

// The structures of SARIF 2.1.0 (OASIS, 27 March 2020) that a linter needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool `json:"executionSuccessful"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name            string      `json:"name"`
		SemanticVersion string      `json:"semanticVersion,omitempty"`
		Rules           []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string          `json:"id"`
		ShortDescription     sarifText       `json:"shortDescription"`
		FullDescription      sarifText       `json:"fullDescription"`
		Help                 sarifText       `json:"help"`
		DefaultConfiguration sarifLevel      `json:"defaultConfiguration"`
		Properties           sarifProperties `json:"properties"`
	}
	sarifProperties struct {
		Tags []string `json:"tags"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID              string             `json:"ruleId"`
		RuleIndex           int                `json:"ruleIndex"`
		Level               string             `json:"level"`
		Message             sarifText          `json:"message"`
		Locations           []sarifLocation    `json:"locations"`
		PartialFingerprints map[string]string  `json:"partialFingerprints"`
		Fixes               []sarifFix         `json:"fixes,omitempty"`
		Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int           `json:"startLine"`
		StartColumn int           `json:"startColumn"`
		EndLine     int           `json:"endLine"`
		EndColumn   int           `json:"endColumn"`
		Snippet     *sarifContent `json:"snippet,omitempty"`
	}
	sarifContent struct {
		Text string `json:"text"`
	}
	sarifFix struct {
		Description     sarifText     `json:"description"`
		ArtifactChanges []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion  `json:"deletedRegion"`
		InsertedContent sarifContent `json:"insertedContent"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

func writeSARIF(w io.Writer, r Report) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "hostler lint", SemanticVersion: r.Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{true}}, Results: []sarifResult{}, ColumnKind: "unicodeCodePoints",
	}
	index := map[string]int{}
	for i, rule := range r.Rules {
		index[rule.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rule))
	}
	for _, res := range r.Results {
		for _, f := range res.Findings {
			run.Results = append(run.Results, sarifResultOf(res, f, index))
		}
		for _, f := range res.Suppressed {
			one := sarifResultOf(res, f.Finding, index)
			one.Suppressions = []sarifSuppression{{"inSource", f.Reason}}
			run.Results = append(run.Results, one)
		}
	}
	return encode(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

func sarifRuleOf(r *lint.Rule) sarifRule {
	return sarifRule{
		ID: r.Name, ShortDescription: sarifText{Text: r.Summary + "."}, FullDescription: sarifText{Text: r.Doc, Markdown: r.Doc},
		Help: sarifText{Text: r.Doc, Markdown: lint.RulePage(r)}, DefaultConfiguration: sarifLevel{r.Severity.String()},
		Properties: sarifProperties{[]string{r.Profile.String()}},
	}
}

func sarifResultOf(res lint.Result, f lint.Finding, indexes map[string]int) sarifResult {
	index, known := indexes[f.Rule]
	if !known {
		index = -1 // the standard's word for a rule that is not described
	}
	text := res.Texts[f.Range.Filename]
	region := regionOf(text, f.Range)
	if s := snippetOf(res, f); s != nil && f.Range.Start.Line == f.Range.End.Line {
		region.Snippet = &sarifContent{s.Code[s.HighlightStart:s.HighlightEnd]}
	}
	out := sarifResult{
		RuleID: f.Rule, RuleIndex: index, Level: f.Severity.String(), Message: sarifText{Text: f.Summary + ". " + f.Detail},
		Locations:           []sarifLocation{{PhysicalLocation: sarifPhysical{sarifArtifact{uriOf(f.Range.Filename)}, region}}},
		PartialFingerprints: map[string]string{"finding/v1": fingerprint(f)},
	}
	if f.Address != "" {
		out.Locations[0].LogicalLocations = []sarifLogical{{f.Address}}
	}
	if f.Fix != nil {
		out.Fixes = []sarifFix{sarifFixOf(res, f)}
	}
	return out
}

func sarifFixOf(res lint.Result, f lint.Finding) sarifFix {
	name := f.Fix.Edits[0].Range.Filename
	change := sarifChange{ArtifactLocation: sarifArtifact{uriOf(name)}}
	for _, e := range f.Fix.Edits {
		change.Replacements = append(change.Replacements, sarifReplacement{regionOf(res.Texts[name], e.Range), sarifContent{e.Text}})
	}
	return sarifFix{sarifText{Text: f.Fix.Message}, []sarifChange{change}}
}

func regionOf(text []byte, r hcl.Range) sarifRegion {
	return sarifRegion{
		StartLine: max(1, r.Start.Line), StartColumn: codePoints(text, r.Start),
		EndLine: max(1, r.End.Line), EndColumn: codePoints(text, r.End),
	}
}

// uriOf is the relative reference of a file, as review tools resolve it against
// the top of a repository; an absolute path becomes a file address.
func uriOf(name string) string {
	name = filepath.ToSlash(name)
	if path.IsAbs(name) {
		return (&url.URL{Scheme: "file", Path: name}).String()
	}
	return strings.TrimPrefix((&url.URL{Path: name}).String(), "./")
}

// fingerprint tells a finding from others whatever lines it moves over.
func fingerprint(f lint.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.Range.Filename, f.Address, f.Detail}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
