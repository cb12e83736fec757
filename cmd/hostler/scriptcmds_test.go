package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// commandsForScripts are the commands that scripts have besides the usual
// ones.
func commandsForScripts() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"exits": exits, "unprivileged": unprivileged, "interrupted": interrupted, "lock": lock,
		"mode": mode, "link": link, "snapshot": snapshot, "debian": debian, "same": same, "inode": inode, "nowhere": nowhere, "events": events, "document": document,
		"noise": noise,
	}
}

// program is a program of a script, with its output in the files out and err.
type program struct {
	*exec.Cmd
	ts       *testscript.TestScript
	out, err *os.File
}

func prepare(ts *testscript.TestScript, args []string) *program {
	p := &program{Cmd: exec.Command(args[0], args[1:]...), ts: ts}
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(filepath.ListSeparator)) {
		if path := filepath.Join(dir, args[0]); exists(path) {
			p.Path, p.Err = path, nil
			break
		}
	}
	p.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "NO_COLOR", "TERM", "CREDENTIALS_DIRECTORY", "GOCOVERDIR"} {
		if value := ts.Getenv(name); value != "" {
			p.Env = append(p.Env, name+"="+value)
		}
	}
	p.Env = append(p.Env, strings.Fields(ts.Getenv("VARS"))...)
	var err error
	p.out, err = os.Create(ts.MkAbs("out"))
	ts.Check(err)
	p.err, err = os.Create(ts.MkAbs("err"))
	ts.Check(err)
	p.Stdout, p.Stderr = p.out, p.err
	return p
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ended checks the exit status of a program that has ended.
func (p *program) ended(want string) {
	p.ts.Check(errors.Join(p.out.Close(), p.err.Close()))
	code, err := strconv.Atoi(want)
	p.ts.Check(err)
	if got := p.ProcessState.ExitCode(); got != code {
		p.ts.Fatalf("exit status %d, want %d\n%s\n%s", got, code, p.ts.ReadFile("out"), p.ts.ReadFile("err"))
	}
}

// exits CODE PROGRAM [ARG…]: the program ends with exactly that status; its
// output is written to the files out and err.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	p := prepare(ts, args[1:])
	_ = p.Run()
	p.ended(args[0])
}

// unprivileged CODE PROGRAM [ARG…]: as exits, by a user who is not root.
func unprivileged(ts *testscript.TestScript, _ bool, args []string) {
	p := prepare(ts, args[1:])
	if os.Geteuid() == 0 {
		dir, err := os.MkdirTemp("", "hostler-nobody")
		ts.Check(err)
		ts.Defer(func() { _ = os.RemoveAll(dir) })
		ts.Check(os.Chmod(dir, 0o755))
		copied := filepath.Join(dir, args[1])
		// Another process copies: a program that is open for writing, if only
		// in a child that is just being started, cannot be run.
		ts.Check(exec.Command("cp", p.Path, copied).Run())
		const nobody = 65534
		p.Path, p.Dir = copied, dir
		p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	_ = p.Run()
	p.ended(args[0])
}

// interrupted SIGNAL CODE TEXT PROGRAM [ARG…]: the program gets the signal once
// its output holds the text ("-" for at once) and ends with that status.
func interrupted(ts *testscript.TestScript, _ bool, args []string) {
	signal := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[args[0]]
	p := prepare(ts, args[3:])
	ts.Check(p.Start())
	for deadline := time.Now().Add(20 * time.Second); ; {
		out, err := os.ReadFile(p.out.Name())
		ts.Check(err)
		if strings.Contains(string(out), args[2]) {
			break
		}
		if time.Now().After(deadline) {
			_ = p.Process.Kill()
			ts.Fatalf("%q never came\n%s", args[2], out)
		}
		time.Sleep(time.Millisecond)
	}
	ts.Check(p.Process.Signal(signal))
	_ = p.Wait()
	p.ended(args[1])
}

// heldLocks is under which a script keeps the directories it has locked.
type heldLocks struct{}

// lock DIR: locks an offline root as another run would; ! lock lets it go.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	held := ts.Value(heldLocks{}).(map[string]*os.File)
	if neg {
		ts.Check(held[args[0]].Close())
		return
	}
	dir, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { _ = dir.Close() })
	ts.Check(syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	held[args[0]] = dir
}

// mode OCTAL FILE: the file's permission bits.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// link FILE TARGET: the file is a link with that target.
func link(ts *testscript.TestScript, _ bool, args []string) {
	got, err := os.Readlink(ts.MkAbs(args[0]))
	ts.Check(err)
	if got != args[1] {
		ts.Fatalf("%s links to %s, want %s", args[0], got, args[1])
	}
}

// nowhere TEXT PATH…: no file at or below the paths holds the text, in its name
// or content.
func nowhere(ts *testscript.TestScript, _ bool, args []string) {
	for _, top := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			if strings.Contains(name, args[0]) || strings.Contains(string(data), args[0]) {
				ts.Fatalf("%s holds %q", name, args[0])
			}
			return err
		}))
	}
}

// noise FILE SIZE writes a file that cannot be compressed.
func noise(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	ts.Check(os.WriteFile(name, data, 0o644))
}
