package functions

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxDepth bounds the nesting of texts that are decoded; decoders recurse.
const maxDepth = 500

func encodingFunctions() map[string]function.Function {
	return map[string]function.Function{
		"base64encode": text(func(a []string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(a[0])), nil },
			"Writes a text in UTF-8 as base64.", param("str", aText)),
		"base64decode": text(base64Decode, "Reads base64 that holds a text in UTF-8.", param("str", "The base64.")),
		"urlencode": text(func(a []string) (string, error) { return url.QueryEscape(a[0]), nil },
			"Escapes a text for use in the query of a URL.", param("str", aText)),
		"csvdecode":  documented(stdlib.CSVDecodeFunc, "Reads CSV as a list of objects; the first line names their attributes.", "The CSV."),
		"jsondecode": shallow(documented(stdlib.JSONDecodeFunc, "Reads a JSON text as a value.", "The JSON.")),
		"jsonencode": documented(stdlib.JSONEncodeFunc, "Writes a value as JSON on one line, keys in order.", aValue),
		"yamldecode": bound(shallow(documented(yaml.YAMLDecodeFunc, "Reads a YAML document as a value.", "The YAML.")), boundAliases),
		"yamlencode": documented(yaml.YAMLEncodeFunc, "Writes a value as a YAML document, keys in order.", aValue),
		"tomldecode": tomlDecode(),
		"tomlencode": tomlEncode(),
		"base64gzip": text(base64Gzip, "Compresses a text with gzip and writes the bytes as base64. The same text always gives the same bytes.", param("str", aText)),
		"textencodebase64": text(textEncode, "Writes a text in an encoding such as \"UTF-16LE\" as base64.",
			param("str", aText), param("encoding", anEncoding)),
		"textdecodebase64": text(textDecode, "Reads base64 that holds a text in an encoding such as \"UTF-16LE\".",
			param("str", "The base64."), param("encoding", anEncoding)),
	}
}

func base64Decode(args []string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		return "", function.NewArgErrorf(0, "is no base64: %v", err)
	}
	if !utf8.Valid(data) {
		return "", function.NewArgErrorf(0, "does not decode to a text in UTF-8; use content_base64 for other bytes")
	}
	return string(data), nil
}

// shallow refuses texts that nest so deeply that decoding would hang or
// exhaust the stack. It counts brackets and list dashes without regard to
// quotes, far above what documents need.
func shallow(f function.Function) function.Function {
	return checked(f, func(args []cty.Value) error {
		depth := 0
		for line := range strings.Lines(args[0].AsString()) {
			dashes := 0
			for _, c := range line {
				switch c {
				case '[', '{':
					depth++
				case ']', '}':
					depth = max(0, depth-1)
				case '-', '?', ':':
					dashes++
				}
				if depth > maxDepth {
					return function.NewArgError(0, errors.New("nests too deeply"))
				}
			}
			if dashes > maxDepth && strings.Count(line, "- ")+strings.Count(line, "? ")+strings.Count(line, ": ") > maxDepth {
				return function.NewArgError(0, errors.New("has a line that nests too deeply"))
			}
		}
		return nil
	})
}
