package workflow_test

import (
	"strings"
	"testing"
)

// A subscription that could not be one fails its function with the place and what to write.
func TestWrongSubscriptions(t *testing.T) {
	//lint:orderfree each is a call of its own
	for call, want := range map[string]string{
		`"redis://h"`:                                      `names no channel: write vu.redis.subscribe("redis://host", ["news"]`,
		`"redis://h", []`:                                  `names no channel`,
		`"redis://h", "news"`:                              `write channels = ["news"]`,
		`"redis://h", ["a", 7]`:                            `channels[1] must be a text, not int 7`,
		`"redis://h", ["a"], patterns = ["b", "b"]`:        `patterns has "b" twice`,
		`"redis://h", ["a" + str(i) for i in range(1001)]`: `channels has 1001 names, one session has at most 1000`,
		`"redis://h", ["x" * 50000]`:                       `more than 48 KiB`,
		`redis.client("redis://h", cluster = True), [], sharded = ["a"]`: `sharded channels belong to a slot`,
		`"http://h", ["a"]`:               `redis`,
		`"redis://h", ["a"], expect = []`: `expect`,
	} {
		w := one(t, "return vu.redis.subscribe("+call+").close()")
		out := w.NewVU(1, 1, &fake{}).Call(0)
		if out.OK || !strings.Contains(out.Detail, want) {
			t.Errorf("%s: got %v %s, want %s", call, out.OK, out.Detail, want)
		}
	}
	w := one(t, `s = vu.redis.subscribe("redis://h", ["a"], patterns = ["b"], sharded = ["c"], timeout = "1s", name = "feed")
m = s.receive()
expect.equal((m.channel, m.pattern, m.error, dir(s)), ("", "", "timeout", ["close", "error", "ping", "receive", "status"]))
return s.close()`)
	if out := w.NewVU(1, 1, &fake{}).Call(0); !out.OK {
		t.Errorf("got %s", out.Detail)
	}
}
