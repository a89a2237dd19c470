package talk

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strconv"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/postgres"
)

// TALK-3: operations share a connection if they begin it alike, and only then, and TLS options are made
// once a target. Where they go is shown without a password.
func TestSQLTargets(t *testing.T) {
	same := `sql.client("postgres://app@h/d", password = "geheim", tls = tls(min_version = "1.2"))`
	targets := []string{
		same, strings.Replace(same, "//app@h", "//app@h:7000", 1), strings.Replace(same, "app", "other", 1), strings.Replace(same, "geheim", "other", 1),
		strings.Replace(same, "h/d", "h/e", 1), strings.Replace(same, "1.2", "1.3", 1), strings.Replace(same, ", tls = tls(min_version = \"1.2\")", "", 1),
		strings.Replace(same, "tls = ", "sslmode = \"require\", tls = ", 1), strings.Replace(same, "tls = ", "sslmode = \"verify-ca\", tls = ", 1),
		strings.Replace(same, "min_version", "server_name = \"x\", min_version", 1), strings.Replace(same, "min_version", "resume = True, min_version", 1),
	}
	keys, memory := map[string]string{}, &Memory{}
	for _, target := range targets {
		text := `workflow(name = "test", steps = [step("a", sql.query(` + target + `, "select 1")), step("b", sql.batch(` + target + `, ["select 2"]))])`
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		var plans []*Plan
		w := p.Workflow("test")
		for i := range w.Steps {
			plan, upgrade, err := NewPlan(w.Steps[i].Request, w, memory)
			if err != nil || upgrade != nil {
				t.Fatal(upgrade, err)
			}
			plans = append(plans, plan)
		}
		one, two := plans[0].Host, plans[1].Host
		if one.Key != two.Key || one.TLS != two.TLS || (one.TLS != nil) != strings.Contains(target, "tls") || one.Secure {
			t.Errorf("%s: %+v and %+v", target, one, two)
		}
		if c := one.TLS; c != nil && (c.InsecureSkipVerify != strings.Contains(target, "sslmode") || (c.VerifyConnection != nil) != strings.Contains(target, "verify-ca")) || one.Resume != strings.Contains(target, "resume") {
			t.Errorf("%s: verified %v %v, resumed %v", target, c.InsecureSkipVerify, c.VerifyConnection != nil, one.Resume)
		}
		if shown := plans[0].Shown; strings.Contains(shown.Scheme+shown.Address()+shown.Path, "geheim") {
			t.Errorf("%s: shown as %+v", target, shown)
		}
		if before := keys[one.Key]; before != "" {
			t.Errorf("%s and %s share connections", before, target)
		}
		keys[one.Key] = target
	}
}

// A server's public key reaches what begins connections, and those of another key are others.
func TestPublicKeysOfMySQL(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	keys := map[string]bool{}
	for _, more := range []string{"", ", public_key = " + strconv.Quote(key)} {
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(`workflow(name = "test", steps = [step("a", sql.query(sql.client("mysql://app@h/d"` + more + `), "select 1"))])`)}}})
		if err != nil {
			t.Fatal(err)
		}
		w := p.Workflow("test")
		plan, _, err := NewPlan(w.Steps[0].Request, w, &Memory{})
		if err != nil {
			t.Fatal(err)
		}
		keys[plan.Host.Key] = true
	}
	if len(keys) != 2 {
		t.Errorf("%v", keys)
	}
}

// Memory forgets targets that functions make up.
func TestSQLTargetsAreBounded(t *testing.T) {
	m := &Memory{}
	for i := range 3 * protocolsMax {
		if _, err := m.database(strings.Repeat("x", i), postgres.Config{}, &request.SQLSecure{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.databases) > protocolsMax {
		t.Errorf("%d are remembered", len(m.databases))
	}
}
