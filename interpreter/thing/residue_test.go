package thing_test

import (
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func TestResidueIsFoundAndNamed(t *testing.T) {
	h := memory.New(memory.Options{
		Files:  files{"/run/x": {}, "/mnt/m/f": {}},
		Mounts: []memory.Mount{{Point: "/mnt/m"}},
		Units:  []memory.Unit{{Name: "on.service", Enabled: true, Running: true}, {Name: "off.service"}},
		Network: memory.Network{
			Links:  []host.LinkState{{Name: "wg2", Kind: "wireguard"}, {Name: "wg1", Kind: "wireguard"}, {Name: "wg01", Kind: "wireguard"}, {Name: "d1", Kind: "dummy"}},
			Tables: []host.TableState{{Family: host.IPv4, Table: 7}, {Family: host.IPv6, Table: 9}},
			Rules:  []host.RuleState{{Family: host.IPv6, Table: 7}, {Family: host.IPv6, Table: 7, Priority: 2}},
		},
	}).Host()
	for _, c := range []struct {
		r     thing.Residue
		value string // "" is absent
	}{
		{thing.Residue{Subject: thing.ResiduePath, Name: "/run/x"}, "/run/x"},
		{thing.Residue{Subject: thing.ResiduePath, Name: "/run/y"}, ""},
		{thing.Residue{Subject: thing.ResidueMount, Name: "/mnt/m"}, "/mnt/m"},
		{thing.Residue{Subject: thing.ResidueMount, Name: "/mnt"}, ""},
		{thing.Residue{Subject: thing.ResidueRunning, Name: "on.service"}, "on.service"},
		{thing.Residue{Subject: thing.ResidueRunning, Name: "off.service"}, ""},
		{thing.Residue{Subject: thing.ResidueRunning, Name: "none.service"}, ""},
		{thing.Residue{Subject: thing.ResidueEnabled, Name: "on.service"}, "/etc/systemd/system/multi-user.target.wants/on.service"},
		{thing.Residue{Subject: thing.ResidueEnabled, Name: "off.service"}, ""},
		{thing.Residue{Subject: thing.ResidueLink, Name: "wg1-5", Range: true, Kind: "wireguard"}, "wg1 wg2"},
		{thing.Residue{Subject: thing.ResidueLink, Name: "wg1-5", Kind: "wireguard"}, ""},
		{thing.Residue{Subject: thing.ResidueLink, Name: "d1"}, "d1"},
		{thing.Residue{Subject: thing.ResidueLink, Name: "d1", Kind: "veth"}, ""},
		{thing.Residue{Subject: thing.ResidueRoutes, Name: "7-9"}, "ipv4/7 ipv6/9"},
		{thing.Residue{Subject: thing.ResidueRoutes, Name: "8"}, ""},
		{thing.Residue{Subject: thing.ResidueRules, Name: "7"}, "ipv6/7"},
		{thing.Residue{Subject: thing.ResidueOther, Name: "anything"}, ""},
	} {
		want := thing.State{Kind: thing.Present, Value: c.value}
		if c.value == "" {
			want = thing.State{Kind: thing.Absent}
		}
		if got := look(t, h, c.r); !got.Same(want) {
			t.Errorf("%s is %+v, want %+v", c.r.Key(), got, want)
		}
		if c.r.Key() != thing.Key("residue:"+c.r.Subject+":"+c.r.Name) || c.r.Key().Kind() != "residue" {
			t.Errorf("key %s", c.r.Key())
		}
		if err := c.r.PutBack(t.Context(), h, thing.Origin{Kind: thing.OriginAbsent}, nil); err != nil {
			t.Error(err)
		}
	}
	for _, r := range []thing.Residue{
		{Subject: thing.ResidueRoutes, Name: "x"}, {Subject: thing.ResidueRules, Name: "x"}, {Subject: thing.ResidueLink, Name: "x", Range: true},
	} {
		if _, err := r.Look(t.Context(), h.View()); err == nil || !strings.Contains(err.Error(), string(r.Key())) {
			t.Errorf("%s: %v", r.Key(), err)
		}
	}
}

func TestResidueOfAHostThatDoesNotRun(t *testing.T) {
	h := memory.New(memory.Options{Offline: true}).Host()
	for _, subject := range []string{thing.ResidueMount, thing.ResidueRunning, thing.ResidueEnabled, thing.ResidueLink, thing.ResidueRoutes, thing.ResidueRules} {
		if got := look(t, h, thing.Residue{Subject: subject, Name: "1"}); got.Kind != thing.Absent {
			t.Errorf("%s: %+v", subject, got)
		}
	}
	h.Identity.Live = true
	if _, err := (thing.Residue{Subject: thing.ResidueLink, Name: "a"}).Look(t.Context(), h.View()); !errors.Is(err, host.ErrUnknown) {
		t.Error(err)
	}
}

func TestEnablingLinks(t *testing.T) {
	h := memory.New(memory.Options{Files: files{
		"/etc/systemd/system/a.target.wants/x@1.service":  {Link: "/lib/systemd/system/x@.service"},
		"/etc/systemd/system/a.target.requires/x.service": {Link: "../x.service"},
		"/run/systemd/system/a.target.upholds/x.service":  {Link: "/x.service"},
		"/etc/systemd/system/alias.service":               {Link: "/lib/systemd/system/x.service"},
		"/etc/systemd/system/x.service":                   {Link: "/opt/x.service"},
		"/etc/systemd/system/masked.service":              {Link: "/dev/null"},
		"/etc/systemd/system/a.target.wants/y.service":    {Content: "no link"},
	}}).Host()
	for unit, want := range map[string]string{
		"x.service":      "/etc/systemd/system/a.target.requires/x.service /etc/systemd/system/alias.service /run/systemd/system/a.target.upholds/x.service",
		"x@1.service":    "/etc/systemd/system/a.target.wants/x@1.service",
		"y.service":      "",
		"masked.service": "",
	} {
		links, err := thing.EnablingLinks(h.Files, unit)
		if got := strings.Join(links, " "); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", unit, got, err, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for text, c := range map[string]struct {
		span thing.Span
		err  string
	}{
		"7":             {thing.Span{First: 7, Last: 7}, ""},
		"51820-51899":   {thing.Span{First: 51820, Last: 51899}, ""},
		"wg51820-51899": {thing.Span{Prefix: "wg", First: 51820, Last: 51899}, ""},
		"wg-3":          {thing.Span{Prefix: "wg-", First: 3, Last: 3}, ""},
		"wg":            {thing.Span{}, "is no range"},
		"":              {thing.Span{}, "is no range"},
		"1-2-3":         {thing.Span{}, "is no range"},
		"1-":            {thing.Span{}, "is no range"},
		"1-+2":          {thing.Span{}, "is no range"},
		"9-1":           {thing.Span{}, `write "1-9"`},
		"0-99999":       {thing.Span{}, "more than 65536"},
	} {
		span, err := thing.ParseSpan(text)
		if span != c.span || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %+v, %v", text, span, err)
		}
	}
	span := thing.Span{Prefix: "wg", First: 5, Last: 9}
	for name, in := range map[string]bool{"wg5": true, "wg9": true, "wg10": false, "wg4": false, "wg05": false, "wg": false, "5": false, "awg5": false} {
		if span.HasName(name) != in {
			t.Errorf("%s in %+v is %v", name, span, !in)
		}
	}
	if span.Has(5) || !(thing.Span{First: 5, Last: 9}).Has(9) || (thing.Span{First: 5, Last: 9}).Has(10) {
		t.Error("numbers")
	}
}

func TestAnyIDMatchesEveryOwner(t *testing.T) {
	want := thing.State{Kind: thing.File, Mode: "0644", UID: thing.AnyID, GID: thing.AnyID}
	if !want.Same(thing.State{Kind: thing.File, Mode: "0644", UID: 33, GID: 34}) || want.Same(thing.State{Kind: thing.File, Mode: "0600", UID: 33, GID: 34}) {
		t.Error("AnyID")
	}
}
