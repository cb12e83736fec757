#!/bin/sh
# Installs hostler and has it bring this host, now and at every boot, to what
# its recipe says. Made by "hostler render". Run it as root; running it again
# does what is left to do.
set -eu
umask 077

url=@URL@
sha256=@SHA256@
program=@PROGRAM@
unit=@UNIT@
state=@STATE@

fail() {
	echo "hostler: $*" >&2
	exit 1
}

# dir MODE PATH makes a directory.
dir() {
	mkdir -p "$2"
	chmod "$1" "$2"
}

# put MODE PATH writes a file whose content comes in base64, put_gzip one that
# was compressed. It appears whole.
put() {
	base64 -d >"$2.new"
	chmod "$1" "$2.new"
	mv -f "$2.new" "$2"
}
put_gzip() {
	base64 -d >"$2.gz"
	gzip -dc "$2.gz" >"$2.new"
	rm -f "$2.gz"
	chmod "$1" "$2.new"
	mv -f "$2.new" "$2"
}

# fetch FILE downloads the program, until the network is there: ten minutes.
fetch() {
	tries=60
	until if command -v curl >/dev/null; then curl -fsSL -o "$1" "$url"; else wget -q -O "$1" "$url"; fi; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail 'the program cannot be fetched; run this again when the network is there'
		sleep 10
	done
}

[ "$(id -u)" -eq 0 ] || fail 'this needs root'
[ -d /run/systemd/system ] || fail 'this host does not run systemd'
for tool in base64 gzip mktemp sha256sum systemctl; do
	command -v "$tool" >/dev/null || fail "this needs $tool"
done
command -v curl >/dev/null || command -v wget >/dev/null || fail 'this needs curl or wget'

# The directory is below /var/lib because /tmp may be one that nothing is
# executed from.
mkdir -p "$state"
stage=$(mktemp -d @STAGING@)
tidy() {
	rm -rf "$stage"
	rmdir "$state" 2>/dev/null || :
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM

fetch "$stage/hostler"
echo "$sha256  $stage/hostler" | sha256sum -c - >/dev/null 2>&1 || fail 'what was fetched is not the program: its digest is another one'
chmod 0755 "$stage/hostler"
"$stage/hostler" version >/dev/null || fail 'the program does not run here; is it for another processor?'

# A program that is there stays, and one that a link leads to. A link to nothing
# is replaced, not written through.
if ! { [ -f "$program" ] && [ -x "$program" ]; }; then
	(umask 022 && mkdir -p @BIN@)
	cp "$stage/hostler" "$program.new"
	chmod 0755 "$program.new"
	rm -f "$program"
	mv -f "$program.new" "$program"
fi

@PUTS@
sync
@TIDY@
tidy
systemctl daemon-reload
systemctl enable "$unit"
systemctl restart --no-block "$unit"
echo "hostler: $unit is started; journalctl -fu $unit shows what it does"
