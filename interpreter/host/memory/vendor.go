package memory

import "path"

const nspawnUnit = `[Unit]
Description=Machine %i
PartOf=machines.target
Before=machines.target

[Service]
ExecStart=systemd-nspawn --quiet --keep-unit --boot --network-veth --settings=override --machine=%i
Type=notify
KillMode=mixed
RestartForceExitStatus=133
SuccessExitStatus=133

[Install]
WantedBy=machines.target
`

// builtinUnits are the units that every systemd has. A machine's tree need
// not bring them.
func builtinUnits() map[string]string {
	unit := "[Unit]\nDescription=Target\n"
	return map[string]string{
		"basic.target":          unit,
		"sysinit.target":        unit,
		"network.target":        unit,
		"network-pre.target":    unit,
		"network-online.target": unit,
		"nss-lookup.target":     unit,
		"local-fs.target":       unit,
		"sockets.target":        unit,
		"timers.target":         unit,
		"shutdown.target":       unit,
		"machines.target":       unit + "\n[Install]\nWantedBy=multi-user.target\n",
		"multi-user.target":     unit + "Requires=basic.target\nAfter=basic.target\n",
	}
}

func builtin(name string) (string, bool) {
	if path.Ext(name) == ".slice" {
		return "[Unit]\n", true
	}
	content, ok := builtinUnits()[name]
	return content, ok
}

// vendorTargets are the built-in units as files.
func vendorTargets() map[string]File {
	all := map[string]File{"default.target": {Link: "multi-user.target"}}
	for name, content := range builtinUnits() {
		all[name] = File{Content: content}
	}
	return all
}

func nspawnInstance(machine string) string { return "systemd-nspawn@" + machine + ".service" }
