package deliver

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"hostler/interpreter/delivery"
)

// The texts of the scripts, with words in capitals between @ for what differs.
//
//go:embed script.sh
var scriptText string

//go:embed pointer.sh
var pointerText string

// script is the payload as a shell script that anybody may read and run again.
func script(p *Payload) []byte { return []byte(fill(p, puts(p), "")) }

// fill is the script with the commands that write files, and one that tidies
// up when it has succeeded.
func fill(p *Payload, puts, tidy string) string {
	return strings.NewReplacer(
		"@URL@", quote(p.Program.URL), "@SHA256@", quote(p.Program.SHA256), "@PROGRAM@", quote(p.Path), "@BIN@", quote(path.Dir(p.Path)),
		"@UNIT@", quote(p.Unit.Name), "@STAGING@", quote(delivery.Staging+"XXXXXX"), "@STATE@", quote(path.Dir(delivery.Staging)),
		"@TIDY@\n", tidy, "@PUTS@\n", puts,
	).Replace(scriptText)
}

// puts are the commands that write the payload's directories and files.
func puts(p *Payload) string {
	var b strings.Builder
	for _, d := range p.Dirs {
		fmt.Fprintf(&b, "dir %s %s\n", octal(d.Mode), quote(d.Path))
	}
	for _, f := range append(append([]File(nil), p.Files...), unitFile(p.Unit)) {
		e := encode(f.Content)
		verb := "put"
		if e.gzipped {
			verb = "put_gzip"
		}
		fmt.Fprintf(&b, "%s %s %s <<'%s'\n%s%s\n", verb, octal(f.Mode), quote(f.Path), hereEnd, wrap(e.text), hereEnd)
	}
	return b.String()
}

// hereEnd ends base64 text, which never holds it.
const hereEnd = "_END_"

func unitFile(u Unit) File { return File{delivery.UnitPath(u.Name), modePlain, []byte(u.Contents)} }

// octal is a mode as chmod takes it.
func octal(mode fs.FileMode) string { return fmt.Sprintf("%04o", mode.Perm()) }

// lineLength is that of lines of base64, which mail and editors leave alone.
const lineLength = 76

// wrap breaks text into lines, each with its end.
func wrap(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(lineLength, len(text))
		b.WriteString(text[:n])
		b.WriteByte('\n')
		text = text[n:]
	}
	return b.String()
}

// quote is a text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// scriptPointer is a script that fetches the real one and runs it.
func scriptPointer(at Source) []byte { return []byte(fillPointer(at, "")) }

func fillPointer(at Source, tidy string) string {
	return strings.NewReplacer(
		"@URL@", quote(at.URL), "@SHA256@", quote(at.SHA256), "@STAGING@", quote(delivery.Staging+"XXXXXX"), "@STATE@", quote(path.Dir(delivery.Staging)),
		"@TIDY@\n", tidy,
	).Replace(pointerText)
}

// cloudDir is where a cloud-config puts the script that it runs, cloudScript,
// which removes it when it has succeeded: else it can be run again.
const (
	cloudDir    = delivery.Staging + "cloud-init"
	cloudScript = cloudDir + "/run"
	tidyCloud   = "rm -rf " + cloudDir + "\n"
)

// cloudConfig is the payload as a cloud-config: its files, and a script that
// does the rest.
func cloudConfig(p *Payload) []byte {
	script := File{cloudScript, modeDir, []byte(fill(p, modes(p), tidyCloud))}
	return cloudText(append(append([]File(nil), p.Files...), unitFile(p.Unit), script))
}

// modes are the commands that give directories their modes, which cloud-init
// does not let us choose.
func modes(p *Payload) string {
	var b strings.Builder
	for _, d := range p.Dirs {
		fmt.Fprintf(&b, "dir %s %s\n", octal(d.Mode), quote(d.Path))
	}
	return b.String()
}

// cloudConfigPointer is a cloud-config that fetches a script and runs it.
func cloudConfigPointer(at Source) []byte {
	return cloudText([]File{{cloudScript, modeDir, []byte(fillPointer(at, tidyCloud))}})
}

// cloudText is a cloud-config that writes files and runs one. A file that
// others may not read is made empty first: cloud-init sets the mode when the
// content is written already, but leaves that of a file that is there.
func cloudText(files []File) []byte {
	var b strings.Builder
	b.WriteString("#cloud-config\nwrite_files:\n")
	for _, f := range files {
		if f.Mode&0o044 == 0 {
			cloudFile(&b, f, "text/plain", "")
		}
		e := encode(f.Content)
		encoding := "b64"
		if e.gzipped {
			encoding = "gz+b64"
		}
		cloudFile(&b, f, encoding, e.text)
	}
	fmt.Fprintf(&b, "runcmd:\n- [\"/bin/sh\", %q]\n", cloudScript)
	return []byte(b.String())
}

// cloudFile writes an entry. All strings are ASCII without quotes, which YAML
// and Go quote alike.
func cloudFile(b *strings.Builder, f File, encoding, content string) {
	fmt.Fprintf(b, "- path: %q\n  permissions: %q\n  owner: \"root:root\"\n  encoding: %q\n  content: %q\n", f.Path, octal(f.Mode), encoding, content)
}
