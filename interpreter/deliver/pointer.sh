#!/bin/sh
# Fetches the script that installs hostler, holds it to its digest and runs it.
# Made by "hostler render". Run it as root.
set -eu
umask 077

url=@URL@
sha256=@SHA256@
state=@STATE@

fail() {
	echo "hostler: $*" >&2
	exit 1
}

# fetch FILE downloads the script, until the network is there: ten minutes.
fetch() {
	tries=60
	until if command -v curl >/dev/null; then curl -fsSL -o "$1" "$url"; else wget -q -O "$1" "$url"; fi; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail 'the script cannot be fetched; run this again when the network is there'
		sleep 10
	done
}

[ "$(id -u)" -eq 0 ] || fail 'this needs root'
for tool in mktemp sha256sum; do
	command -v "$tool" >/dev/null || fail "this needs $tool"
done
command -v curl >/dev/null || command -v wget >/dev/null || fail 'this needs curl or wget'

mkdir -p "$state"
stage=$(mktemp -d @STAGING@)
tidy() {
	rm -rf "$stage"
	rmdir "$state" 2>/dev/null || :
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM

fetch "$stage/run"
echo "$sha256  $stage/run" | sha256sum -c - >/dev/null 2>&1 || fail 'what was fetched is not the script: its digest is another one'
/bin/sh "$stage/run"
@TIDY@
