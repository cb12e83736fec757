package format

import (
	"encoding/xml"
	"io"

	"hostler/interpreter/lint"
)

type checkstyle struct {
	XMLName xml.Name         `xml:"checkstyle"`
	Version string           `xml:"version,attr"`
	Files   []checkstyleFile `xml:"file"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Column   int    `xml:"column,attr"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

func writeCheckstyle(w io.Writer, r Report) error {
	doc := checkstyle{Version: "10.0"}
	index := map[string]int{}
	r.each(func(res lint.Result, f lint.Finding) {
		name := f.Range.Filename
		i, ok := index[name]
		if !ok {
			i = len(doc.Files)
			index[name] = i
			doc.Files = append(doc.Files, checkstyleFile{Name: name})
		}
		doc.Files[i].Errors = append(doc.Files[i].Errors, checkstyleError{
			f.Range.Start.Line, codePoints(res.Texts[name], f.Range.Start), f.Severity.String(), f.Summary + ": " + f.Detail, "hostler." + f.Rule,
		})
	})
	return encodeXML(w, doc)
}

func encodeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
