package workflow_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

const contextFile = `
def fetch(vu):
    return {"a": [1, vu.http.get("http://h/").text()], "shared": vu.shared}

def count(vu):
    return 3

def shop(vu):
    vu.log("%s %s %d" % (vu.use.tokens["a"][1], vu.use.tokens["shared"], vu.use.count))
    return vu.http.get("http://h/")

workflow(name = "shop", depends = ["middle"], use = [use("tokens", of = ["auth"]), use("count", of = ["middle"])], steps = [step(shop)])
workflow(name = "middle", depends = ["auth"], provide = [provide("count", count, to = ["shop"])], use = [use("tokens", of = ["auth"])], steps = [step("a", http.get("http://h/"))])
workflow(name = "auth", setup = lambda vu: "s", provide = [provide("tokens", fetch, to = ["shop", "middle"])], steps = [step("a", http.get("http://h/"))])
`

// What a workflow provides goes to the workflows that it names, which find it in vu.use.
func TestContext(t *testing.T) {
	p, err := workflow.Load(program("w.star", contextFile))
	if err != nil {
		t.Fatal(err)
	}
	c := &fake{answer: func(*request.Request) *workflow.Response {
		return &workflow.Response{Status: 200, Body: []byte("x\"")}
	}}
	auth, middle, shop := p.Workflow("auth"), p.Workflow("middle"), p.Workflow("shop")
	if !auth.Has(workflow.HookProvide) || shop.Has(workflow.HookProvide) {
		t.Error("who provides?")
	}
	v := auth.NewVU(0, 1, c)
	for _, h := range []workflow.Hook{workflow.HookSetup, workflow.HookProvide} {
		if out := v.Run(h); !out.OK {
			t.Fatal(h, out)
		}
	}
	// In the plan auth is 0, middle 1, shop 2.
	want := []message.Provided{{Name: "tokens", To: []uint32{1, 2}, Value: []byte(`{"a":[1,"x\""],"shared":"s"}`)}}
	if diff := cmp.Diff(want, v.Provided()); diff != "" {
		t.Fatal(diff)
	}
	all := v.Provided()
	v = middle.NewVU(0, 1, c)
	if out := v.Run(workflow.HookProvide); !out.OK {
		t.Fatal(out)
	}
	all = append(all, v.Provided()...)
	given, err := shop.Take(all)
	if err != nil {
		t.Fatal(err)
	}
	v = shop.NewVU(0, 1, c)
	v.Give(given)
	v.Begin()
	if out := v.Call(0); !out.OK || c.logs[0] != "x\" s 3" {
		t.Errorf("%+v, logs %q", out, c.logs)
	}
	if _, err := shop.Take(all[:1]); err == nil || !strings.Contains(err.Error(), `workflow "shop" uses "count", which no workflow before it has provided`) {
		t.Errorf("a value is missing: %v", err)
	}
	if _, err := middle.Take([]message.Provided{{Name: "tokens", Value: []byte("{")}}); err == nil {
		t.Error("what is not JSON was taken")
	}
}

// A value that cannot be given to others fails, with the reason.
func TestProvideRefuses(t *testing.T) {
	//lint:orderfree each is a case of its own
	for body, want := range map[string]string{
		`return "x" * 33000`: "must return at most 32 KiB as JSON",
		`return vu`:          "must return what can be written as JSON",
		`fail("no")`:         "no",
		`return vu.use.a`:    "this workflow uses nothing of others",
	} {
		p, err := workflow.Load(program("w.star", "def f(vu):\n    "+body+`
workflow(name = "v", provide = [provide("a", f, to = ["w"])], steps = [step("a", http.get("http://h/"))])
workflow(name = "w", depends = ["v"], use = [use("a", of = ["v"])], steps = [step("a", http.get("http://h/"))])
`))
		if err != nil {
			t.Fatal(err)
		}
		v := p.Workflow("v").NewVU(0, 1, &fake{})
		if out := v.Run(workflow.HookProvide); out.OK || !strings.Contains(out.Detail, want) {
			t.Errorf("%s: %+v, want %s", body, out, want)
		}
	}
}
