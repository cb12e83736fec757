package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

// finds lints a text and holds the findings to the marks in it, each with the
// rule that is named for it.
func finds(t *testing.T, text string, want ...string) []lint.Finding {
	t.Helper()
	ex := parseExample(text)
	res := lintExample(ex)
	var got []string
	for i, f := range res.Findings {
		got = append(got, f.Rule)
		m := mark{f.Range.Filename, f.Range.Start.Byte, f.Range.End.Byte}
		if !slices.Contains(ex.marks, m) {
			t.Errorf("finding %d is not marked: %s", i, show(f))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found by %v, want %v", got, want)
		for _, f := range res.Findings {
			t.Log(show(f))
		}
	}
	return res.Findings
}

func lintBytes(src []byte) lint.Result {
	fsys := fstest.MapFS{"recipe.hcl": {Data: src}}
	return linter().Lint(lint.Input{Source: eval.Tree("", fsys, "."), Tested: true, Config: strict()})
}

func TestC01BlankAfterHeredocOpener(t *testing.T) {
	found := finds(t, "write_file_if_changed \"a\" {\n  path    = \"/a\"\n  content = <<EOF« »\nx\nEOF\n}\n", "validate")
	if !strings.Contains(found[0].Detail, "blank") {
		t.Error(found[0].Detail)
	}
	finds(t, "write_file_if_changed \"a\" {\n  path    = \"/a\"\n  content = <<EOF\nx\nEOF  \n}\n")
}

func TestC03CarriageReturns(t *testing.T) {
	text := preamble + "write_file_if_changed \"a\" {\n  path    = \"/opt/a\"\n  mode    = \"0755\"\n  content = <<EOF\n#!/bin/sh\ntrue\nEOF\n}\n"
	if res := lintBytes([]byte(strings.ReplaceAll(text, "\n", "\r\n"))); len(res.Findings) > 0 {
		t.Error(show(res.Findings[0]))
	}
	finds(t, "systemd_unit \"a.service\" {\n  source = \"files/a\"\n}\n-- files/a --\n«[Service]»␍\nExecStart=/usr/bin/a\n", "carriage-return")
}

func TestC04ShellVariables(t *testing.T) {
	head := "write_file_if_changed \"a\" {\n  path    = \"/a\"\n  content = <<EOF\n"
	found := finds(t, head+"echo «${HOME}»\nEOF\n}\n", "shell-template")
	if !strings.Contains(found[0].Detail, "$${HOME}") {
		t.Error(found[0].Detail)
	}
	finds(t, head+"echo «${X:-d}»\nEOF\n}\n", "validate")
	finds(t, head+"echo $${HOME} $(id) %i %%i\nEOF\n}\n")
}

func TestC06BareModes(t *testing.T) {
	block := func(label, mode string) string {
		return fmt.Sprintf("write_file_if_changed %q {\n  path    = \"/%s\"\n  mode    = %s\n  content = \"\"\n}\n", label, label, mode)
	}
	found := finds(t, block("a", "«0644»")+block("b", "«644»")+block("c", `"0644"`)+block("d", `«"0999"»`), "bare-mode", "bare-mode", "mode-digits")
	for i, want := range []string{`"0644"`, `"0644"`, `octal`} {
		if !strings.Contains(found[i].Detail, want) {
			t.Errorf("%q does not hold %s", found[i].Detail, want)
		}
	}
}

func TestC07Encodings(t *testing.T) {
	good := preamble + "directory \"a\" {\n  path = \"/a\"\n}\n"
	if res := lintBytes(append([]byte("\xef\xbb\xbf"), good...)); len(res.Findings) > 0 {
		t.Error(show(res.Findings[0]))
	}
	wide := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(good)) {
		wide = append(wide, byte(c), byte(c>>8))
	}
	res := lintBytes(wide)
	if len(res.Findings) != 1 || res.Findings[0].Rule != "validate" || !strings.Contains(res.Findings[0].Detail, "UTF-8") {
		t.Errorf("%+v", res.Findings)
	}
}

func TestC09EscapedUnitNames(t *testing.T) {
	found := finds(t, "systemd_unit \"a\" {\n  name   = \"mnt-data«\\x»2ddisk.mount\"\n  enable = true\n}\n", "validate")
	if !strings.Contains(found[0].Detail, "double the backslash") {
		t.Error(found[0].Detail)
	}
	finds(t, "systemd_unit \"a\" {\n  name   = \"mnt-data\\\\x2ddisk.mount\"\n  enable = true\n}\n")
}

func TestC19EmptyContent(t *testing.T) {
	finds(t, "write_file_if_changed \"a\" {\n  path    = \"/etc/demo.conf\"\n  content = \"\"\n}\n")
	finds(t, "systemd_unit \"a.service\" {\n  content = «\"\"»\n}\n", "unit-empty")
	finds(t, "systemd_unit \"a.service\" {\n  drop_in \"10-x.conf\" {\n    content = \"\"\n  }\n}\n")
}

func TestC23EnableWithoutInstall(t *testing.T) {
	unit := "systemd_unit \"a.service\" {\n  content = \"[Service]\\nExecStart=/usr/bin/a\\n%s\"\n  enable  = %s\n}\n"
	finds(t, fmt.Sprintf(unit, "", "«true»"), "unit-without-install")
	finds(t, fmt.Sprintf(unit, "[Install]\\nAlias=other.service\\n", "true"))
	finds(t, fmt.Sprintf(unit, "", "false"))
}

func TestC25Templates(t *testing.T) {
	const text = "  content = \"[Service]\\nExecStart=/usr/bin/a %%i\\n[Install]\\nWantedBy=multi-user.target\\n%s\"\n"
	found := finds(t, "systemd_unit \"tmpl@.service\" {\n"+fmt.Sprintf(text, "")+"  enable  = «true»\n}\n", "unit-template-instance")
	if !strings.Contains(found[0].Detail, "instance") || found[0].Severity != lint.Error {
		t.Error(show(found[0]))
	}
	finds(t, "systemd_unit \"tmpl@.service\" {\n"+fmt.Sprintf(text, "DefaultInstance=b\\n")+"  enable  = true\n}\n")
	finds(t, "systemd_unit \"tmpl@b.service\" {\n  enable = true\n}\n")
	found = finds(t, "systemd_unit \"tmpl@.service\" {\n  enable = «true»\n}\n", "unit-template-instance")
	if found[0].Severity != lint.Warning {
		t.Error("a foreign template may have a default instance")
	}
}

func TestC34CredentialBeforeItsFile(t *testing.T) {
	const token = "write_file_if_changed \"tok\" {\n  path    = \"/etc/demo/tok\"\n  mode    = \"0600\"\n  content = \"x\\n\"\n}\n"
	const unit = "systemd_unit \"demo.service\" {\n  content = <<-EOT\n    [Service]\n    ExecStart=/usr/bin/demo\n    LoadCredential=%s\n  EOT\n  state   = \"started\"\n  restart = \"never\"\n}\n"
	finds(t, fmt.Sprintf(unit, "tok:«/etc/demo/tok»")+token, "start-before-file")
	finds(t, token+fmt.Sprintf(unit, "tok:/etc/demo/tok"))
	finds(t, fmt.Sprintf(unit, "«tok»"), "unit-credential-source")
	watched := strings.Replace(fmt.Sprintf(unit, "tok:/etc/demo/tok"), "  restart = \"never\"\n", "", 1)
	finds(t, token+watched+"restart_on_change \"demo.service\" {\n  watch = «[systemd_unit[\"demo.service\"]]»\n}\n", "unit-unwatched-file")
}

func TestC36MachineNames(t *testing.T) {
	const machine = "require_capability \"nspawn\" {\n  executable = \"systemd-nspawn\"\n}\nnspawn_machine %s {\n  rootfs {\n    image = \"r.example/b@sha256:%064d\"\n  }\n  ready {\n    unit = \"multi-user.target\"\n  }\n}\n"
	long := strings.Repeat("a", 65)
	for _, name := range []string{"work_dev", "-lead", "trail-", "a..b", "ünï", "a@b", "a/b", ".hidden", long} {
		found := finds(t, fmt.Sprintf(machine, "«\""+name+"\"»", 1), "machine-name")
		if len(found) > 0 && !strings.Contains(found[0].Detail, "machine name has") {
			t.Errorf("%s: the rule is not named: %s", name, found[0].Detail)
		}
	}
	for _, name := range []string{long[:64], "UPPER", "a.b"} {
		finds(t, fmt.Sprintf(machine, "\""+name+"\"", 1))
	}
}

func TestC41ReadOnlyAndShiftedOwners(t *testing.T) {
	const machine = "require_capability \"nspawn\" {\n  executable = \"systemd-nspawn\"\n}\nnspawn_machine \"a\" {\n  rootfs {\n    image = \"r.example/b@sha256:%064d\"\n  }\n  settings {\n    exec  = { PrivateUsers = %q }\n    files = %s\n  }\n  ready {\n    unit = \"multi-user.target\"\n  }\n}\n"
	finds(t, fmt.Sprintf(machine, 1, "yes", "«{ ReadOnly = \"yes\" }»"), "machine-read-only")
	finds(t, fmt.Sprintf(machine, 1, "no", "{ ReadOnly = \"yes\" }"))
}

func TestC82UnitNameWithoutType(t *testing.T) {
	finds(t, "systemd_unit «\"x\"» {\n  enable = true\n}\n", "unit-name")
	finds(t, "systemd_unit «\"x.service.service\"» {\n  enable = true\n}\n", "unit-name")
	finds(t, "systemd_unit «\"a b.service\"» {\n  enable = true\n}\n", "unit-name")
	finds(t, "systemd_unit \"a\" {\n  name   = «\"a b.service\"»\n  enable = true\n}\n", "unit-name")
}
