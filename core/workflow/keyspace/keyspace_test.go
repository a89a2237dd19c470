package keyspace_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/workflow/keyspace"
)

// KEYSPACE-2: these are the slots that CLUSTER KEYSLOT of a server answers.
func TestSlots(t *testing.T) {
	//lint:orderfree each is a case of its own
	for key, want := range map[string]int{"": 0, "123456789": 12739, "foo": 12182, "{foo}.a": 12182, "a{foo}b{bar}": 12182, "foo{}{bar}": 8363, "foo{{bar}}zap": 4015, "{": 4092} {
		if got := keyspace.Slot(key); got != want {
			t.Errorf("%q: got %d, want %d", key, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tag := rapid.StringMatching(`[^{}]+`).Draw(t, "tag")
		before, behind := rapid.StringMatching(`[^{]*`).Draw(t, "before"), rapid.String().Draw(t, "behind")
		if a, b := keyspace.Slot(tag), keyspace.Slot(before+"{"+tag+"}"+behind); a != b || a < 0 || a >= keyspace.Slots {
			t.Fatalf("%d and %d", a, b)
		}
	})
}

// KEYSPACE-3.
func TestReads(t *testing.T) {
	//lint:orderfree each is a case of its own
	for command, want := range map[string]bool{
		"get k": true, "MGET a b": true, "XREAD STREAMS a 0": true, "OBJECT ENCODING k": true, "ZUNION 2 a b": true, "EVAL_RO code 1 k": true,
		"SET k v": false, "GETDEL k": false, "GETEX k": false, "EVAL code 1 k": false, "SORT k": false, "PING": false, "OBJECT HELP": false, "GET": false,
		"XREADGROUP GROUP g c STREAMS a 0": false, "EVAL_RO code 0": false, "JSON.GET k": false,
	} {
		if got := keyspace.Reads(strings.Fields(command)); got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
}

// KEYSPACE-1.
func TestKeys(t *testing.T) {
	//lint:orderfree each is a case of its own
	for command, want := range map[string]string{
		"get k":                            "[1] true",
		"PING":                             "[] true",
		"PUBLISH c m":                      "[] true",
		"MSET a 1 b 2":                     "[1 3] true",
		"BLPOP a b 0":                      "[1 2] true",
		"DEL a b c":                        "[1 2 3] true",
		"RENAME a b":                       "[1 2] true",
		"BITOP AND d a b":                  "[2 3 4] true",
		"EVAL code 2 a b c":                "[3 4] true",
		"EVAL code n a":                    "[] false",
		"EVAL code 9 a":                    "[3] true",
		"EVAL code":                        "[] true",
		"ZUNIONSTORE d 2 a b WEIGHTS 1 2":  "[1 3 4] true",
		"LMPOP 1 a LEFT":                   "[2] true",
		"XREAD COUNT 2 STREAMS a b 0 0":    "[4 5] true",
		"XREAD COUNT 2":                    "[] false",
		"XINFO STREAM a":                   "[2] true",
		"OBJECT HELP":                      "[] true",
		"SORT a BY w GET x STORE d":        "[1 7] true",
		"GEORADIUS STORE 1 2 3 km STORE d": "[1 7] true",
		"GET":                              "[] true",
		"JSON.GET k":                       "[] false",
	} {
		at, known := keyspace.Keys(strings.Fields(command))
		if at == nil {
			at = []int{}
		}
		if got := fmt.Sprint(at, known); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // whatever the words are
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"EVAL", "XREAD", "STREAMS", "SORT", "STORE", "ZDIFFSTORE", "BLPOP", "1", "-3", "k"}), 1, 8).Draw(t, "words")
		at, _ := keyspace.Keys(words)
		for i, k := range at {
			if k < 1 || k >= len(words) || i > 0 && k <= at[i-1] {
				t.Fatalf("%q: %v", words, at)
			}
		}
	})
}
