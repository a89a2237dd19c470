package custom

// Catalogue lists the behaviours.
func Catalogue() []Entry {
	all := hellos()
	all = append(all, deaths()...)
	all = append(all, answers()...)
	return append(all, ends()...)
}

// hellos go wrong before the clock.
func hellos() []Entry {
	return []Entry{
		{"exits at once", `exit 0`, Want{Before: "run exited with code 0"}},
		{"exits with a code and words", `echo "no licence" >&2; exit 3`, Want{Before: "run exited with code 3; its stderr ends: no licence"}},
		{"greets with garbage", `echo "Starting up"; sleep 100`, Want{Before: `is no JSON: print to stderr what is no answer: "Starting up"`}},
		{"greets with other JSON", `echo '{"ready":true}'; sleep 100`, Want{Before: "is no hello"}},
		{"speaks version 2", `read -r h; echo '{"hyperscale":2}'; serve`, Want{Before: "speaks version 2 of the protocol"}},
		{"greets without end", `head -c 100000 /dev/zero | tr '\0' a; sleep 100`, Want{Before: "has more than 64 KiB"}},
		{"names a measure that is no name", `read -r h; echo '{"hyperscale":1,"measures":["Rows per s"]}'; serve`, Want{Before: "is no name of its own"}},
		{"closes stdout and lives", `exec >&-; sleep 100`, Want{Before: "closed its stdout and lives on"}},
		{"answers before it is asked", `read -r h; printf '{"hyperscale":1}\n{"id":1,"ok":true}\n'; sleep 100`, Want{Before: "a call that it was not asked"}},
	}
}

// deaths end the process while it has calls.
func deaths() []Entry {
	return []Entry{
		{"dies in a call", `hello; next; echo "bad seat" >&2; exit 7`, Want{Kind: "process", Fault: "run exited with code 7; its stderr ends: bad seat"}},
		{"is killed in a call", `hello; next; kill -9 $$`, Want{Kind: "process", Fault: "run was killed by signal 9 (killed)"}},
		{"exits well in a call", `hello; next; exit 0`, Want{Kind: "process", Fault: "run exited with code 0"}},
		{"leaves a child behind", `hello; next; sleep 100 & exit 5`, Want{Kind: "process", Fault: "run exited with code 5"}},
		{"closes stdin and lives", `hello; next; exec <&-; sleep 100`, Want{Kind: "process", Fault: "closed its stdin and lives on"}},
		{"closes stdout in a call", `hello; next; exec >&-; sleep 100`, Want{Kind: "process", Fault: "closed its stdout and lives on"}},
		{"stops itself", `hello; next; kill -STOP $$; serve`, Want{Kind: "timeout", Log: `did not say {"calls":N}`}},
		{"reads nothing", `hello; sleep 100`, Want{Kind: "timeout", Log: `did not say {"calls":N}`}},
	}
}

// answers are wrong, or right in an odd way.
func answers() []Entry {
	breaks := func(name, body, fault string) Entry {
		return Entry{name, `hello; next; ` + body + `; sleep 100`, Want{Kind: "process", Fault: fault}}
	}
	return []Entry{
		breaks("floods stdout", `yes`, "is no JSON"),
		breaks("says a line of 2 MiB", `head -c 2097152 /dev/zero | tr '\0' a; echo`, "has more than 1024 KiB"),
		breaks("answers a call that was never made", `echo '{"id":7,"ok":true}'`, "a call that it was not asked"),
		{"answers twice", `hello; while next; do good; good; done`, Want{Fault: "a call that it was not asked, or has answered"}},
		breaks("answers without ok", `echo '{"id":'$id'}'`, `says neither "ok":true nor "ok":false`),
		breaks("measures NaN", `echo '{"id":'$id',"ok":true,"measures":{"rows":NaN}}'`, "is no JSON"),
		breaks("measures less than nothing", `echo '{"id":'$id',"ok":true,"measures":{"rows":-1}}'`, "is no whole number"),
		breaks("measures what its hello lacks", `echo '{"id":'$id',"ok":true,"measures":{"cells":1}}'`, "is not among those of the program's hello"),
		breaks("says an empty line", `echo`, "is no JSON"),
		breaks("says its last line early", `echo '{"calls":1}'`, "before it hears the end"),
		{"answers in small pieces", `hello; while next; do printf '{"id":'; printf '%s,"ok":tr' $id; printf 'ue}\r\n'; done`, Want{}},
		{"answers with a body of 60 KB", `hello; while next; do printf '{"id":%s,"ok":true,"body":"' $id; head -c 60000 /dev/zero | tr '\0' a; echo '"}'; done`, Want{}},
		{"fails each call", `hello; while next; do echo '{"id":'$id',"ok":false}'; done`, Want{Kind: "server error"}},
		{"answers when it is too late", `hello; while next; do sleep 0.2; good; done`, Want{Kind: "timeout", Late: true}},
		{"writes 64 MiB to stderr", `hello; while next; do head -c 67108864 /dev/zero >&2; good; done`, Want{}},
	}
}

// ends are what a program does once it hears the end.
func ends() []Entry {
	until := `hello; while read -r line; do case $line in *'"call"'*) id=${line#*\"id\":}; id=${id%%,*}; echo . >>calls; good;; *'"end"'*) break;; esac; done; `
	return []Entry{
		{"ignores the end", until + `sleep 100`, Want{Log: `did not say {"calls":N} within 2s, and were killed`}},
		{"ends without its last line", until + `exit 0`, Want{Log: "run exited with code 0"}},
		{"miscounts", until + `echo '{"calls":12345}'`, Want{Log: "it says it had 12345 calls"}},
		{"says its last line and lives", until + `echo '{"calls":'$(grep -c . calls)'}'; sleep 100`, Want{Log: "did not end within 2s"}},
	}
}
