package accounts

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

func schema() block.Schema {
	id := block.Count("id", 0).Says("Its number; a free system number when left out.")
	groups := block.Texts("groups").Names().Says("Further groups it is a member of; they are made if they are missing.")
	return block.Schema{
		Attrs: []block.Attr{block.AbsPath("path").Must().Names().Says("The drop-in, a file `/etc/sysusers.d/NAME.conf`.")},
		Blocks: []block.Nested{
			{Name: "group", Labels: []string{"name"}, Doc: "A group.", Schema: block.Schema{Attrs: []block.Attr{id}}},
			{Name: "user", Labels: []string{"name"}, Doc: "A system user that cannot log in. It gets a group of its own name unless `group` says otherwise.", Schema: block.Schema{Attrs: []block.Attr{
				id,
				block.Group("group").Says("Its group, which must be there or be a `group` of this block."),
				groups,
				block.Text("description").Says("What it is for, in one line."),
				block.AbsPath("home").Says("Its home directory, which is not made; `/` when left out."),
				block.AbsPath("shell").Says("Its shell; one that refuses logins when left out."),
			}}},
		},
	}
}

type arguments struct {
	Path   string  `cty:"path"`
	Groups []group `cty:"group"`
	Users  []user  `cty:"user"`
}

type group struct {
	Name string `cty:"name"`
	ID   *int   `cty:"id"`
}

type user struct {
	Name        string   `cty:"name"`
	ID          *int     `cty:"id"`
	Group       *string  `cty:"group"`
	Groups      []string `cty:"groups"`
	Description *string  `cty:"description"`
	Home        *string  `cty:"home"`
	Shell       *string  `cty:"shell"`
}

// accountName is what systemd takes without complaint.
var accountName = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)

// maxID is the largest number; the two below 2^32 have a meaning of their own.
const maxID = 1<<32 - 3

func (a arguments) faults(args block.Args) (diags hcl.Diagnostics) {
	fault := func(attr, detail string, v ...any) {
		diags = append(diags, args.Fault(attr, "Invalid account", fmt.Sprintf(detail, v...)))
	}
	if len(a.Users)+len(a.Groups) == 0 {
		fault("", "Write at least one user or group.")
	}
	seen := map[string]bool{}
	check := func(at, kind, name string, id *int) {
		if !accountName.MatchString(name) || name == "root" {
			fault(at, "%q is no name for a %s; write one such as \"web\": small letters, digits, - and _, at most 31.", name, kind)
		}
		if id != nil && (*id == 0 || *id == 65535 || *id > maxID) {
			fault(at+".id", "%d is not free for a %s; write another number.", *id, kind)
		}
		if seen[kind+name] {
			fault(at, "%s %q is given twice; write it once.", kind, name)
		}
		seen[kind+name] = true
	}
	for i, g := range a.Groups {
		check(fmt.Sprintf("group[%d]", i), "group", g.Name, g.ID)
	}
	for i, u := range a.Users {
		at := fmt.Sprintf("user[%d]", i)
		check(at, "user", u.Name, u.ID)
		for _, name := range u.Groups {
			if !accountName.MatchString(name) {
				fault(at+".groups", "%q is no name of a group.", name)
			}
		}
		if u.Description != nil && strings.ContainsAny(*u.Description, ":\"\\\n\r") {
			fault(at+".description", "The description is one line without : \" and \\.")
		}
		for _, p := range []*string{u.Home, u.Shell} {
			if p != nil && strings.ContainsAny(*p, ": \t\"\\\n") {
				fault(at, "%q cannot stand in an account file.", *p)
			}
		}
	}
	return diags
}

// text is the drop-in, as sysusers.d(5) has it.
func (a arguments) text() string {
	var b strings.Builder
	for _, g := range a.Groups {
		fmt.Fprintf(&b, "g %s %s\n", g.Name, number(g.ID))
	}
	for _, u := range a.Users {
		id := number(u.ID)
		if u.Group != nil {
			id += ":" + *u.Group
		}
		fmt.Fprintf(&b, "u %s %s %s %s %s\n", u.Name, id, quoted(u.Description), field(u.Home), field(u.Shell))
		for _, g := range u.Groups {
			fmt.Fprintf(&b, "m %s %s\n", u.Name, g)
		}
	}
	return b.String()
}

func number(id *int) string {
	if id == nil {
		return "-"
	}
	return fmt.Sprint(*id)
}

func field(s *string) string {
	if s == nil {
		return "-"
	}
	return strings.ReplaceAll(path.Clean(*s), "%", "%%")
}

func quoted(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return `"` + strings.ReplaceAll(*s, "%", "%%") + `"`
}

// wants lists the accounts that the drop-in makes: groups, users, memberships.
func (a arguments) wants() (all []thing.Account) {
	seen := map[thing.Key]bool{}
	add := func(kind, name string) {
		w := thing.Account{Kind: kind, Name: name}
		if !seen[w.Key()] {
			seen[w.Key()] = true
			all = append(all, w)
		}
	}
	for _, g := range a.Groups {
		add(thing.AccountGroup, g.Name)
	}
	for _, u := range a.Users {
		if u.Group == nil {
			add(thing.AccountGroup, u.Name)
		}
		for _, g := range u.Groups {
			add(thing.AccountGroup, g)
		}
	}
	for _, u := range a.Users {
		add(thing.AccountUser, u.Name)
	}
	for _, u := range a.Users {
		for _, g := range u.Groups {
			add(thing.AccountMember, u.Name+"/"+g)
		}
	}
	return all
}
