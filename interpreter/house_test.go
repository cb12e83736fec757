package interpreter_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says which rooms each room may import. A room is the package at the
// path and those below it that are not rooms themselves.
var rooms = map[string][]string{
	"interpreter/syntax":                  {},
	"interpreter/host":                    {},
	"interpreter/host/treefs":             {"interpreter/host"},
	"interpreter/host/offline":            {"interpreter/host", "interpreter/host/treefs"},
	"interpreter/host/linux":              {"interpreter/host", "interpreter/host/treefs", "interpreter/host/offline"},
	"interpreter/host/memory":             {"interpreter/host"},
	"interpreter/host/shadow":             {"interpreter/host"},
	"interpreter/host/fault":              {"interpreter/host"},
	"interpreter/host/hosttest":           {"interpreter/host"},
	"interpreter/unitfile":                {"interpreter/host"},
	"interpreter/delivery":                {"interpreter/host"},
	"interpreter/thing":                   {"interpreter/host", "interpreter/unitfile"},
	"interpreter/block":                   {"interpreter/host", "interpreter/thing"},
	"interpreter/block/blocktest":         {"interpreter/block", "interpreter/host", "interpreter/thing", "interpreter/host/memory", "interpreter/host/fault", "interpreter/host/shadow"},
	"interpreter/eval":                    {"interpreter/syntax", "interpreter/block", "interpreter/thing", "interpreter/host"},
	"interpreter/record":                  {"interpreter/block", "interpreter/thing", "interpreter/host"},
	"interpreter/rootfs":                  {"interpreter/host"},
	"interpreter/walk":                    {"interpreter/block", "interpreter/thing", "interpreter/record", "interpreter/host"},
	"interpreter/report":                  {"interpreter/walk", "interpreter/block"},
	"interpreter/lint":                    {"interpreter/syntax", "interpreter/eval", "interpreter/block", "interpreter/unitfile", "interpreter/host", "interpreter/thing"},
	"interpreter/editor":                  {"interpreter/lint", "interpreter/syntax", "interpreter/eval", "interpreter/block", "interpreter/unitfile"},
	"interpreter/deliver":                 {"interpreter", "interpreter/block", "interpreter/delivery", "interpreter/eval"},
	"interpreter/resident":                {"interpreter", "interpreter/delivery", "interpreter/rootfs", "interpreter/walk", "interpreter/record", "interpreter/thing", "interpreter/host"},
	"interpreter":                         {"interpreter/"},
	"builtins/functions":                  {"interpreter/block", "interpreter/syntax"},
	"builtins/blocks":                     {"interpreter/block", "interpreter/thing", "interpreter/host", "interpreter/unitfile"},
	"builtins/blocks/download":            {"interpreter/block", "interpreter/thing", "interpreter/host", "interpreter/unitfile", "interpreter/rootfs"},
	"builtins/blocks/interpreter_install": {"interpreter/block", "interpreter/thing", "interpreter/host", "interpreter/unitfile", "interpreter/delivery"},
	"builtins/blocks/nspawn_machine":      {"interpreter/block", "interpreter/thing", "interpreter/host", "interpreter/unitfile", "interpreter/rootfs"},
	"builtins/blocks/require_capability":  {"interpreter/block", "interpreter/thing", "interpreter/host", "interpreter/unitfile", "interpreter/rootfs"},
	"builtins":                            {"interpreter/block", "builtins/"},
	"cmd":                                 {"interpreter", "interpreter/", "builtins", "recipes", "cmd/"},
	"recipes":                             {"interpreter/eval"},

	"interpreter/graph":    {"interpreter/eval", "interpreter/block"},
	"interpreter/scaffold": {},

	// Recipes tried out in memory.
	"interpreter/rehearse": {"interpreter", "interpreter/syntax", "interpreter/eval", "interpreter/block", "interpreter/thing", "interpreter/walk", "interpreter/report",
		"interpreter/host", "interpreter/host/memory", "interpreter/host/fault", "interpreter/record"},

	// What happened and why.
	"interpreter/history": {"interpreter/walk", "interpreter/block", "interpreter/record", "interpreter/host"},
	"interpreter/sink":    {"interpreter/block", "interpreter/host"},
	"interpreter/operate": {"interpreter", "interpreter/history", "interpreter/sink", "interpreter/report", "interpreter/walk",
		"interpreter/record", "interpreter/eval", "interpreter/block", "interpreter/thing", "interpreter/host"},
}

// writers are the packages that may change the machine by themselves.
var writers = []string{"interpreter/host/linux", "interpreter/host/treefs", "interpreter/host/offline"}

// forbidden are calls that only the writers may make: everything else goes
// through the doors of package host.
var forbidden = map[string][]string{
	"os": {"Create", "WriteFile", "Mkdir", "MkdirAll", "Remove", "RemoveAll", "Rename", "Symlink", "Link", "Chmod", "Chown", "Lchown",
		"Chtimes", "Truncate", "OpenFile", "CreateTemp", "MkdirTemp"},
	"os/exec":  {"Command", "CommandContext"},
	"time":     {"Now", "Sleep", "After", "Since"},
	"net/http": {"DefaultClient", "DefaultTransport", "Get", "Post", "Head"},
}

func roomOf(dir string) string {
	best := ""
	for room := range rooms {
		if (dir == room || strings.HasPrefix(dir, room+"/")) && len(room) > len(best) {
			best = room
		}
	}
	return best
}

func mayImport(from, to string) bool {
	return from == to || slices.ContainsFunc(rooms[from], func(allowed string) bool {
		return to == allowed || strings.HasSuffix(allowed, "/") && strings.HasPrefix(to, allowed)
	})
}

func eachFile(t *testing.T, visit func(dir, name string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	for _, top := range []string{"interpreter", "builtins", "cmd", "recipes"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel("..", name)
			visit(filepath.ToSlash(filepath.Dir(rel)), filepath.ToSlash(rel), file, fset)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestArrows holds the drawing of the house: every room imports only rooms
// behind it.
func TestArrows(t *testing.T) {
	eachFile(t, func(dir, name string, file *ast.File, _ *token.FileSet) {
		from := roomOf(dir)
		if from == "" {
			t.Errorf("%s is in no room", name)
			return
		}
		for _, imp := range file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if path == "text/template" || path == "html/template" {
				t.Errorf("%s imports %s: with it the linker keeps every exported method, a sixth of the binary", name, path)
			}
			path, ours := strings.CutPrefix(path, "hostler/")
			if to := roomOf(path); ours && !mayImport(from, to) {
				t.Errorf("%s (room %s) imports room %s", name, from, to)
			}
		}
	})
}

// TestMaps: both maps of the house, the comment of the corridor and the page on
// architecture, have every room of it.
func TestMaps(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "interpreter.go", nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for room := range rooms {
		name, ok := strings.CutPrefix(room, "interpreter/")
		if !ok {
			continue
		}
		if !strings.Contains(name, "/") && !strings.Contains(file.Doc.Text(), "\n\t"+name+" ") {
			t.Errorf("the comment of package interpreter leaves out %s", room)
		}
		if !strings.Contains(string(page), "`"+path.Base(name)+"`") {
			t.Errorf("docs/architecture.md leaves out %s", room)
		}
	}
}

// TestDoors holds that the machine is reached through the doors of package
// host only, and that nothing runs before main.
func TestDoors(t *testing.T) {
	eachFile(t, func(dir, name string, file *ast.File, fset *token.FileSet) {
		if slices.Contains(writers, roomOf(dir)) || strings.HasPrefix(dir, "cmd/") || strings.HasSuffix(dir, "/generate") || strings.HasPrefix(name, "interpreter/rootfs/at") {
			return
		}
		names := map[string]string{}
		for _, imp := range file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if forbidden[path] != nil {
				local := path[strings.LastIndex(path, "/")+1:]
				if imp.Name != nil {
					local = imp.Name.Name
				}
				names[local] = path
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if fn, ok := n.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init", fset.Position(fn.Pos()))
			}
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if ok && pkg.Obj == nil && slices.Contains(forbidden[names[pkg.Name]], sel.Sel.Name) {
				t.Errorf("%s: %s.%s belongs behind a door of package host", fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name)
			}
			return true
		})
	})
}
