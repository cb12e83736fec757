package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Owe writes a restart debt, before the change that causes it or when that is
// in place. It lives under /run: a reboot clears it.
func (s *Store) Owe(_ context.Context, d block.Debt) error {
	if err := s.prepareDebts(); err != nil {
		return err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := s.replace(debtFile(d), append(data, '\n')); err != nil {
		return fmt.Errorf("note that %s owes a restart of %s: %w", d.Step, d.Unit, err)
	}
	return nil
}

// Debts lists the debts, by step and cause.
func (s *Store) Debts(context.Context) ([]block.Debt, error) {
	names, err := readDir(s.host.Files, DebtDir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var debts []block.Debt
	for _, base := range names {
		if !strings.HasSuffix(base, ".json") {
			continue
		}
		data, err := readPrivate(s.host.Files, path.Join(DebtDir, base))
		if err != nil {
			return nil, err
		}
		var d block.Debt
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("restart debt %s: %w", path.Join(DebtDir, base), err)
		}
		debts = append(debts, d)
	}
	return debts, nil
}

// Discharge forgets debts.
func (s *Store) Discharge(_ context.Context, debts []block.Debt) error {
	var err error
	for _, d := range debts {
		err = errors.Join(err, host.Remove(s.host.Files, debtFile(d)))
	}
	return err
}

// OweReload notes that a manager must read its unit files again, before they
// change. machine is "" for the host's.
func (s *Store) OweReload(_ context.Context, machine string) error {
	name := reloadFile(machine)
	if _, err := host.Lstat(s.host.Files, name); err == nil {
		return nil
	}
	if err := s.prepareDebts(); err != nil {
		return err
	}
	return s.replace(name, nil)
}

// OwedReloads lists the machines ("" for the host) whose managers must read
// their unit files again.
func (s *Store) OwedReloads() ([]string, error) {
	names, err := readDir(s.host.Files, DebtDir)
	var machines []string
	for _, base := range names {
		if machine, ok := strings.CutPrefix(base, path.Base(ReloadDebt)); ok {
			machines = append(machines, strings.TrimPrefix(machine, "@"))
		}
	}
	slices.Sort(machines)
	return machines, err
}

// Reloaded forgets a reload that has been done.
func (s *Store) Reloaded(machine string) error {
	return host.Remove(s.host.Files, reloadFile(machine))
}

func (s *Store) prepareDebts() error {
	for _, dir := range []string{"/run", RunDir, DebtDir} {
		mode, private := 0o700, true
		if dir == "/run" {
			mode, private = 0o755, false
		}
		if err := s.mkdir(dir, host.FileMode(uint32(mode)), private); err != nil {
			return err
		}
	}
	return nil
}

func reloadFile(machine string) string {
	if machine == "" {
		return ReloadDebt
	}
	return ReloadDebt + "@" + machine
}

func debtFile(d block.Debt) string {
	sum := strings.TrimPrefix(thing.Digest([]byte(d.Step+"\x00"+d.Cause)), "sha256:")
	return path.Join(DebtDir, sum[:24]+".json")
}
