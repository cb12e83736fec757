package delivery

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Boot is what the boot unit runs. Everything in it must stand for itself in a
// unit file: see [Plain].
type Boot struct {
	Prefix string
	// Recipe is a path or recipe:NAME; "" where the installed one is meant.
	Recipe string
	// Inputs are files with inputs, weakest first.
	Inputs []string
	// Credentials are files by the sensitive variable they hold; "" for one
	// that systemd itself was given.
	Credentials map[string]string
}

// bootText is the boot unit. It has no condition on what an earlier boot did:
// every boot looks.
//
// It is ordered after the daemon and the machines, so that it does not repair
// what is about to start. Nothing is ordered after it that it starts and waits
// for: the interpreter queues such starts. Where a disk is to hold the state or
// the machines, it does not run without that disk.
//
// It tries again, at ever longer intervals where systemd knows them (254), until
// the network is really there; network-online.target may come before that. A
// fault that another try cannot mend ends it: 64 and 65 are invalid, 73 is
// refused. Preflight only looks, and tells people all that it finds: how it ends
// does not count, since ensure looks too, and it alone keeps the run and tells
// status sinks of it. What is written for people goes to the console too:
// nothing, but for warnings and faults.
const bootText = `[Unit]
Description=Hostler: install, continue, or verify and repair
Wants=network-online.target
After=network-online.target nss-lookup.target systemd-sysext.service machines.target ` + DaemonUnit + `
RequiresMountsFor=/var/lib/hostler /var/lib/machines
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutStartSec=1h
Restart=on-failure
RestartSec=10s
RestartSteps=10
RestartMaxDelaySec=5min
SuccessExitStatus=69
RestartPreventExitStatus=64 65 69 73
StandardOutput=journal+console
StandardError=inherit
%sExecStart=-%s
ExecStart=%s

[Install]
WantedBy=multi-user.target
`

// Text is the boot unit's file.
func (b Boot) Text() string {
	var load strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.Credentials)) {
		fmt.Fprintf(&load, "LoadCredential=%s", name)
		if file := b.Credentials[name]; file != "" {
			fmt.Fprintf(&load, ":%s", file)
		}
		load.WriteByte('\n')
	}
	return signed(fmt.Sprintf(bootText, load.String(), b.line("preflight")+" --quiet", b.line("ensure")+" --wait 5m"))
}

func (b Boot) line(verb string) string {
	words := []string{Program(b.Prefix), verb}
	if b.Recipe != "" {
		words = append(words, b.Recipe)
	}
	for _, file := range b.Inputs {
		words = append(words, "--inputs", file)
	}
	return strings.Join(append(words, "--prefix", b.Prefix), " ")
}

// Plain says whether a word stands for itself in a unit file: letters, digits
// and . _ - / : + @ only. Specifiers, variables, quotes and blanks do not.
func Plain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("._-/:+@", r)
	})
}

// DaemonText is the daemon unit's file. 69 is standing down: neither a failure
// nor a reason to start again. What crashes again and again is handed to the
// recovery unit: five times within half an hour, so that one which dies at its
// first look, a minute after each start, or by its watchdog counts too.
func DaemonText(prefix string) string {
	return signed(fmt.Sprintf(`[Unit]
Description=Hostler: keep the host as its recipe says
Wants=network-online.target machines.target
After=network-online.target machines.target
OnFailure=%s
RequiresMountsFor=/var/lib/hostler
StartLimitIntervalSec=30min
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart=%s daemon
Restart=always
RestartSec=10s
SuccessExitStatus=69
RestartPreventExitStatus=69 73
WatchdogSec=2min

[Install]
WantedBy=multi-user.target
`, RecoveryUnit, Current(prefix)))
}

// RecoveryText is the recovery unit's file. It runs the last good program, not
// the one that fails.
func RecoveryText(prefix string) string {
	return signed(fmt.Sprintf(`[Unit]
Description=Hostler: go back to the last good interpreter
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=%s upgrade --rollback
TimeoutStartSec=7min
`, LastGood(prefix)))
}

// mark begins the first line of a unit file of ours; the digest of the rest
// follows.
const mark = "# Written by hostler. A file that was edited is left alone; without it, the next run writes it again. sha256:"

// signed is a unit file with the line by which [Pristine] knows it.
func signed(text string) string {
	return fmt.Sprintf("%s%x\n%s", mark, sha256.Sum256([]byte(text)), text)
}

// Pristine says whether a unit file is one that hostler wrote, this release or
// another, and that nobody has edited since.
func Pristine(text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	sum, ours := strings.CutPrefix(first, mark)
	return ours && sum == fmt.Sprintf("%x", sha256.Sum256([]byte(rest)))
}
