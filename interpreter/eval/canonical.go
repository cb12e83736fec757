package eval

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/zclconf/go-cty/cty"
)

// canonical writes a value as canonical JSON (RFC 8785). Attributes and map
// elements that are null are left out; list elements that are null stay, so
// that the others keep their places. The value must be known and without
// marks.
func canonical(v cty.Value) ([]byte, error) {
	var out bytes.Buffer
	err := writeCanonical(&out, v)
	return out.Bytes(), err
}

func writeCanonical(out *bytes.Buffer, v cty.Value) error {
	ty := v.Type()
	switch {
	case v.IsNull():
		out.WriteString("null")
	case ty == cty.String:
		writeText(out, v.AsString())
	case ty == cty.Bool:
		out.WriteString(strconv.FormatBool(v.True()))
	case ty == cty.Number:
		return writeNumber(out, v.AsBigFloat())
	case ty.IsObjectType(), ty.IsMapType():
		return writeObject(out, v.AsValueMap())
	case ty.IsTupleType(), ty.IsListType(), ty.IsSetType():
		return writeArray(out, v.AsValueSlice())
	default:
		return fmt.Errorf("a value of type %s cannot be part of it", ty.FriendlyName())
	}
	return nil
}

func writeArray(out *bytes.Buffer, list []cty.Value) error {
	out.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeCanonical(out, v); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func writeObject(out *bytes.Buffer, m map[string]cty.Value) error {
	var names []string
	for name, v := range m {
		if !v.IsNull() {
			names = append(names, name)
		}
	}
	// RFC 8785 sorts by UTF-16 code units.
	slices.SortFunc(names, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		writeText(out, name)
		out.WriteByte(':')
		if err := writeCanonical(out, m[name]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// writeText writes a JSON string with the escapes of RFC 8785 and no others.
func writeText(out *bytes.Buffer, s string) {
	out.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteRune(c)
		case c >= ' ':
			out.WriteRune(c)
		case strings.ContainsRune("\b\t\n\f\r", c):
			out.WriteByte('\\')
			out.WriteByte("btn-fr"[c-'\b'])
		default:
			fmt.Fprintf(out, "\\u%04x", c)
		}
	}
	out.WriteByte('"')
}

// maxWhole is the largest whole number up to which all are exact in JSON.
const maxWhole = 1 << 53

// writeNumber writes a number as ECMAScript does. Whole numbers that JSON
// readers round are refused.
func writeNumber(out *bytes.Buffer, n *big.Float) error {
	f, _ := n.Float64()
	if math.IsInf(f, 0) || n.IsInt() && new(big.Float).Abs(n).Cmp(big.NewFloat(maxWhole)) > 0 {
		return fmt.Errorf("the number %s is too large to be exact; write it as a string", n.Text('g', 20))
	}
	out.WriteString(ecmaNumber(f))
	return nil
}

// ecmaNumber is Number::toString of ECMAScript: plain digits between 1e-6 and
// 1e21, an exponent without padding outside.
func ecmaNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exp, _ := strings.Cut(text, "e")
	return mantissa + "e" + exp[:1] + strings.TrimLeft(exp[1:], "0")
}
