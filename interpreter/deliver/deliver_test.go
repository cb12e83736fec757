package deliver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/delivery"
)

const sum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// request is one that every format delivers.
func request() Request {
	return Request{
		URL: "https://files.example/v1/hostler", SHA256: sum, Prefix: "/opt/hostler",
		Recipe: Recipe{Argument: "/etc/hostler/recipe", Files: map[string][]byte{
			"/etc/hostler/recipe/recipe.hcl":    []byte("recipe \"site\" {}\n"),
			"/etc/hostler/recipe/files/a/b.bin": {0, '\n', 0xff},
		}},
		Inputs:      []byte("name = \"one\"\n"),
		Credentials: map[string]string{"token": "/etc/hostler/credentials/token"},
	}
}

func format(t *testing.T, name string) Format {
	t.Helper()
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no format %q", name)
	return Format{}
}

func payload(t *testing.T, f Format, req Request) *Payload {
	t.Helper()
	p, err := New(f, req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestH48Golden: the texts of all formats, byte by byte.
func TestH48Golden(t *testing.T) {
	for _, f := range Formats() {
		p := payload(t, f, request())
		pointer, err := f.Pointer("https://files.example/whole", f.Encode(p))
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string][]byte{f.Name: f.Encode(p), f.Name + "-pointer": pointer} {
			golden := filepath.Join("testdata", name+".golden")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("%s is\n%s", name, got)
			}
		}
	}
}

// flagsOf are the flags that an error names.
func flagsOf(err error) (flags []string) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			flags = append(flags, flagsOf(e)...)
		}
		return flags
	}
	if e, ok := errors.AsType[*FlagError](err); ok {
		flags = append(flags, e.Flag)
	}
	return flags
}

// TestR197MissingFlagsAreNamed: all at once.
func TestR197MissingFlagsAreNamed(t *testing.T) {
	for name, want := range map[string]string{
		"ignition":   "[--interpreter-url --interpreter-sha256 --prefix RECIPE]",
		"cloud-init": "[--interpreter-url --interpreter-sha256 RECIPE]",
		"script":     "[--interpreter-url --interpreter-sha256 RECIPE]",
	} {
		_, err := New(format(t, name), Request{})
		if got := fmt.Sprint(flagsOf(err)); got != want {
			t.Errorf("%s: %s, want %s (%v)", name, got, want, err)
		}
	}
}

// TestR193Schemes: only what can be fetched before anything runs.
func TestR193Schemes(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.example/hostler":              "ignition cloud-init script",
		"http://10.0.0.1:8080/x/hostler":         "ignition cloud-init script",
		"https://a.example/hostler?sig=a%2Fb&x=": "ignition cloud-init script",
		"https://[fd00::1]/hostler":              "ignition cloud-init script",
		"tftp://a.example/hostler":               "ignition",
		"s3://bucket/hostler":                    "ignition",
		"gs://bucket/hostler":                    "ignition",
		"arn:aws:s3:::bucket/hostler":            "ignition",
		"arn:aws:iam:::bucket/hostler":           "",
		"arn:aws:s3":                             "",
		"oci://registry.example/hostler:1":       "",
		"file:///srv/hostler":                    "",
		"ftp://a.example/hostler":                "",
		"data:;base64,aGk=":                      "",
		"/srv/hostler":                           "",
		"hostler":                                "",
		"":                                       "",
		"https://":                               "",
		"https:///hostler":                       "",
		"https://a.example":                      "",
		"https://a.example/dir/":                 "",
		"https://a.example/hostler#x":            "",
		"https://user:canary@a.example/hostler":  "",
		"https://a.example/a b":                  "",
		"https://a.example/a\nb":                 "",
		"https://a.example/$(id)'":               "",
		"https://a.example/%zz":                  "",
		"HTTPS://a.example/hostler":              "ignition cloud-init script",
	} {
		var able []string
		for _, f := range Formats() {
			req := request()
			req.URL = url
			_, err := New(f, req)
			switch {
			case err == nil:
				able = append(able, f.Name)
			case fmt.Sprint(flagsOf(err)) != "[--interpreter-url]":
				t.Errorf("%s of %q: %v", f.Name, url, err)
			case strings.Contains(err.Error(), "canary"):
				t.Errorf("%q: the error tells the secret: %v", url, err)
			}
		}
		if got := strings.Join(able, " "); got != want {
			t.Errorf("%q can be fetched by %q, want %q", url, got, want)
		}
	}
}

// TestR198BareProgram: an archive is none.
func TestR198BareProgram(t *testing.T) {
	for name, bare := range map[string]bool{
		"hostler": true, "hostler-linux-amd64": true, "hostler-1.2.0": true, "hostler?as=x.zip": true,
		"hostler.tar.gz": false, "hostler.TGZ": false, "hostler.zip": false, "hostler.gz?sig=1": false, "hostler.zst": false, "hostler.rpm": false,
	} {
		req := request()
		req.URL = "https://a.example/" + name
		_, err := New(format(t, "ignition"), req)
		if (err == nil) != bare {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "archive") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestR195R196Digests: the forms that a digest comes in, and what is none.
func TestR195R196Digests(t *testing.T) {
	for text, ok := range map[string]bool{
		sum: true, strings.ToUpper(sum): true, sum + "  hostler-linux-amd64\n": true, sum + " *hostler": true, sum + "\thostler": true, " " + sum + " ": true,
		`\` + sum + `  a\nb`: true,
		sum[1:]:              false, sum + "0": false, "g" + sum[1:]: false, "": false, " \n": false, "hostler  " + sum: false,
		sum + "  a\n" + sum + "  b\n": false, strings.Repeat("0", 128): false,
	} {
		req := request()
		req.SHA256 = text
		p, err := New(format(t, "script"), req)
		switch {
		case ok && (err != nil || p.Program.SHA256 != sum):
			t.Errorf("%q: %v %v", text, p, err)
		case !ok && fmt.Sprint(flagsOf(err)) != "[--interpreter-sha256]":
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestUnitArguments: what does not stand for itself in a unit file is refused,
// with the flag named.
func TestUnitArguments(t *testing.T) {
	for want, change := range map[string]func(*Request){
		"[--prefix]":     func(r *Request) { r.Prefix = "/opt/ho%stler" },
		"[--credential]": func(r *Request) { r.Credentials["token"] = "/etc/a b" },
		"[RECIPE]":       func(r *Request) { r.Recipe.Argument = "/etc/hostler/recipe/my recipe" },
	} {
		req := request()
		change(&req)
		if _, err := New(format(t, "ignition"), req); fmt.Sprint(flagsOf(err)) != want {
			t.Errorf("want %s: %v", want, err)
		}
	}
	for _, file := range []string{"relative", "/a/../b", "/a:b", "/a$b", "/a\nb"} {
		req := request()
		req.Credentials["token"] = file
		if _, err := New(format(t, "ignition"), req); fmt.Sprint(flagsOf(err)) != "[--credential]" {
			t.Errorf("credential %q: %v", file, err)
		}
	}
	req := request()
	req.Credentials["token"] = ""
	if p := payload(t, format(t, "ignition"), req); !strings.Contains(p.Unit.Contents, "\nLoadCredential=token\n") {
		t.Errorf("a credential of the system:\n%s", p.Unit.Contents)
	}
}

// TestPrefixIsNeverGuessed (R183, R190): what is rendered says the prefix itself;
// ignition asks for it, and warns where it is mostly
// read-only; the other formats need no flag for it (R206).
func TestPrefixIsNeverGuessed(t *testing.T) {
	for prefix, warned := range map[string]bool{"/usr/local": true, "/opt/hostler": false, "/usrlocal": false} {
		req := request()
		req.Prefix = prefix
		p := payload(t, format(t, "ignition"), req)
		if (len(p.Warnings) > 0) != warned || p.Path != prefix+"/bin/hostler" {
			t.Errorf("%s: %q, program at %s", prefix, p.Warnings, p.Path)
		}
		if p := payload(t, format(t, "script"), req); len(p.Warnings) > 0 {
			t.Errorf("script below %s: %q", prefix, p.Warnings)
		}
	}
	req := request()
	for _, prefix := range []string{"/run/hostler", "/tmp"} {
		req.Prefix = prefix
		if _, err := New(format(t, "script"), req); err == nil || !strings.Contains(err.Error(), "--prefix: what is below /"+strings.Split(prefix, "/")[1]+" is gone at the next boot") {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	req.Prefix = ""
	if p := payload(t, format(t, "cloud-init"), req); p.Path != "/usr/local/bin/hostler" || !strings.Contains(p.Unit.Contents, " --prefix /usr/local") {
		t.Errorf("cloud-init without a prefix: %s\n%s", p.Path, p.Unit.Contents)
	}
}

// TestConflicts: one place, one thing; below a file there is nothing.
func TestConflicts(t *testing.T) {
	for name, prefix := range map[string]string{
		"below a file":             delivery.InputsHCL,
		"where the recipe has one": "/etc/hostler/recipe/files",
	} {
		req := request()
		req.Prefix = prefix
		req.Recipe.Files["/etc/hostler/recipe/files/bin/hostler"] = []byte("x")
		_, err := New(format(t, "ignition"), req)
		if e, ok := errors.AsType[*ConflictError](err); !ok || !strings.Contains(err.Error(), e.Path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	req := request()
	req.Recipe.Files["/etc/hostler/recipe/files/a"] = []byte("a file where a directory is needed")
	if _, err := New(format(t, "ignition"), req); err == nil || !strings.Contains(err.Error(), "/etc/hostler/recipe/files/a ") {
		t.Errorf("a file that is a directory: %v", err)
	}
	req = request()
	req.Recipe.Files[delivery.UnitPath(delivery.BootUnit)] = []byte("x")
	if _, err := New(format(t, "ignition"), req); err == nil {
		t.Error("two files for the boot unit")
	}
}

// TestNoSecretWhereOthersRead: what holds inputs is for root alone, in every
// format, and its directory too.
func TestNoSecretWhereOthersRead(t *testing.T) {
	req := request()
	req.Inputs = []byte("token = \"canary-77\"\n")
	for _, f := range Formats() {
		p := payload(t, f, req)
		for _, file := range p.Files {
			if strings.Contains(string(file.Content), "canary") && file.Mode != 0o600 {
				t.Errorf("%s: %s is %o", f.Name, file.Path, file.Mode)
			}
		}
		for _, d := range p.Dirs {
			if d.Mode != fs.FileMode(0o700) {
				t.Errorf("%s: %s is %o", f.Name, d.Path, d.Mode)
			}
		}
		if strings.Contains(p.Unit.Contents, "canary") || strings.Contains(p.Unit.Contents, "files.example") {
			t.Errorf("%s: the unit file, which all read, tells it", f.Name)
		}
	}
}

// TestLay: recipes lie to each other on the host as they do here.
func TestLay(t *testing.T) {
	read := func(pairs ...string) (all []interpreter.Read) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, interpreter.Read{Source: pairs[i], File: pairs[i+1], Data: []byte(pairs[i] + pairs[i+1])})
		}
		return all
	}
	for name, c := range map[string]struct {
		recipe   string
		read     []interpreter.Read
		argument string
		files    string
	}{
		"shipped":    {"recipe:debian/12/x", read("recipe:debian/12/x/recipe.hcl", ""), "recipe:debian/12/x", ""},
		"directory":  {"site", read("/w/site/recipe.hcl", "", "/w/site/recipe.hcl", "files/a"), "/etc/hostler/recipe", "/etc/hostler/recipe/files/a /etc/hostler/recipe/recipe.hcl"},
		"one file":   {"x.hcl", read("/w/x.hcl", "", "recipe:b/recipe.hcl", ""), "/etc/hostler/recipe/x.hcl", "/etc/hostler/recipe/x.hcl"},
		"beside":     {"site", read("/w/site/recipe.hcl", "", "/w/base/recipe.hcl", "files/b"), "/etc/hostler/recipe/site", "/etc/hostler/recipe/base/files/b /etc/hostler/recipe/site/recipe.hcl"},
		"above":      {"a/b/site", read("/w/a/b/site/recipe.hcl", "", "/w/base.hcl", ""), "/etc/hostler/recipe/a/b/site", "/etc/hostler/recipe/a/b/site/recipe.hcl /etc/hostler/recipe/base.hcl"},
		"far apart":  {"/x/recipe.hcl", read("/x/recipe.hcl", "", "/y/z.hcl", ""), "/etc/hostler/recipe/x", "/etc/hostler/recipe/x/recipe.hcl /etc/hostler/recipe/y/z.hcl"},
		"at the top": {"/", read("/recipe.hcl", "", "/files/a", ""), "/etc/hostler/recipe", "/etc/hostler/recipe/files/a /etc/hostler/recipe/recipe.hcl"},
	} {
		got, err := Lay(c.recipe, c.read)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if files := strings.Join(sorted(got.Files), " "); got.Argument != c.argument || files != c.files {
			t.Errorf("%s: %s, files %s", name, got.Argument, files)
		}
	}
	if _, err := Lay("site", nil); err == nil {
		t.Error("nothing was read, and nothing is wrong")
	}
}
