package config

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/setting"
)

// Each key has the last source that sets it, also where sources agree on the value.
func TestOriginIsTheLastSource(t *testing.T) {
	file := write(t, "id: a\ndata: d\nlease: 20s\nlog_level: warn\nset: {gate.results_max: 7, gate.files_max: 9}\n")
	_, all, err := Explain(node.RoleGate, Sources{
		File: file, Environ: []string{"HYPERSCALE_LOG_LEVEL=warn", "HYPERSCALE_QUORUM_TIMEOUT=1s", "HYPERSCALE_SET=gate.files_max=9"},
		Flags: map[string]string{"quorum-timeout": "1s", "set": "gate.jobs_max=3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Effective{}
	for _, e := range all {
		if _, twice := got[e.Name]; twice {
			t.Errorf("%s stands twice", e.Name)
		}
		got[e.Name] = e
	}
	for name, want := range map[string][2]string{
		"id": {"a", file}, "lease": {"20s", file}, "listen": {"127.0.0.1:7400", FromDefault}, "log_level": {"warn", "HYPERSCALE_LOG_LEVEL"},
		"quorum_timeout": {"1s", "--quorum-timeout"}, "gate.results_max": {"7", file}, "gate.files_max": {"9", "HYPERSCALE_SET"}, "gate.jobs_max": {"3", "--set"},
	} {
		if e := got[name]; e.Value != want[0] || e.From != want[1] {
			t.Errorf("%s: got %q from %q, want %q from %q", name, e.Value, e.From, want[0], want[1])
		}
	}
	if _, has := got["cores"]; has || len(all) < 18 {
		t.Errorf("%d values, among them cores: %v", len(all), has)
	}
}

// The schema has each key of a role with its text, and no key of another.
func TestSchemaHasEachKey(t *testing.T) {
	span := setting.Span("worker.patience", new(time.Duration), "what it bounds", "more", "less")
	for _, role := range []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker} {
		b, err := json.Marshal(Schema(role, []setting.Setting{span}, map[string]any{"type": "object"}))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Properties map[string]struct {
				Type, OneOf any
				Description string
				Properties  map[string]any
			}
			AdditionalProperties bool
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		for _, k := range Keys() {
			p, has := got.Properties[k.Name]
			if has != k.For(role) || has && (p.Description == "" || p.Type == nil && p.OneOf == nil) {
				t.Errorf("%v: %s: %v %+v", role, k.Name, has, p)
			}
		}
		if got.AdditionalProperties || got.Properties["set"].Properties["worker.patience"] == nil {
			t.Errorf("%v: %s", role, b)
		}
	}
}

// What sets nothing is no source: a file that is gone, a variable that only begins like a key.
func TestNoSource(t *testing.T) {
	s := Sources{File: os.DevNull, Environ: []string{prefix + "ID_=x", prefix + "IDS=y"}}
	for _, l := range s.layers() {
		if slices.ContainsFunc(Keys(), l.has) {
			t.Errorf("%+v sets a key", l.alone)
		}
	}
}

// One look tells all faults, not those of the first source.
func TestFaultsOfAllSources(t *testing.T) {
	_, err := Load(node.RoleGate, Sources{
		File: write(t, "idd: a\n"), Environ: []string{"HYPERSCALE_CORES=x"}, Flags: map[string]string{"lease": "soon"},
	})
	for _, want := range []string{"idd", "HYPERSCALE_CORES = ", "--lease = "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// A profile changes the defaults, every source counts for more than it, and each value says where it is from.
func TestProfilesAreDefaults(t *testing.T) {
	base := map[string]string{"id": "n", "data": "/data", "managers": "10.0.0.1:7500", "gates": "10.0.0.1:7400", "advertise": "10.0.0.1:7400", "cluster-secret": "/secret"}
	for _, one := range []struct {
		role  node.Role
		flags map[string]string
		want  map[string]string // key: value and origin
	}{
		{node.RoleGate, map[string]string{}, map[string]string{"lease": "30s default", "profile": " default"}},
		{node.RoleGate, map[string]string{"profile": "lan"}, map[string]string{"lease": "6s profile", "quorum_timeout": "1s profile", "profile": "lan --profile", "stop_timeout": "20s default"}},
		{node.RoleGate, map[string]string{"profile": "local", "lease": "12s"}, map[string]string{"lease": "12s --lease", "quorum_timeout": "500ms profile"}},
		{node.RoleManager, map[string]string{"profile": "lan", "advertise": "10.0.0.1:7500", "datacenter": "a"}, map[string]string{"lease": "6s profile", "quorum_timeout": "1s default", "subjob_lease": "2s default"}},
		{node.RoleGate, map[string]string{"profile": "wan"}, map[string]string{"lease": "30s default", "quorum_timeout": "5s default"}},
		{node.RoleWorker, map[string]string{"profile": "kubernetes", "advertise": "10.0.0.1:7600", "datacenter": "a"}, map[string]string{"listen": "0.0.0.0:7600 profile", "admin": "0.0.0.0:9400 profile", "stop_timeout": "59m50s profile", "log_format": "json profile"}},
		{node.RoleGate, map[string]string{"profile": "kubernetes"}, map[string]string{"listen": "0.0.0.0:7400 profile", "stop_timeout": "20s default"}},
	} {
		flags := map[string]string{}
		maps.Copy(flags, base)
		maps.Copy(flags, one.flags)
		if one.role != node.RoleManager && one.role != node.RoleWorker {
			delete(flags, "managers")
		}
		if one.role == node.RoleWorker {
			delete(flags, "gates")
		}
		_, all, err := Explain(one.role, Sources{Flags: flags})
		if err != nil {
			t.Errorf("%v %v: %v", one.role, one.flags, err)
		}
		for _, e := range all {
			if want, asked := one.want[e.Name]; asked && want != e.Value+" "+e.From {
				t.Errorf("%v %v: %s is %s from %s, want %s", one.role, one.flags, e.Name, e.Value, e.From, want)
			}
		}
	}
	_, err := Load(node.RoleGate, Sources{Flags: map[string]string{"id": "n", "data": "/data", "profile": "lann"}})
	if err == nil || !strings.Contains(err.Error(), "profile = lann must be local, lan, wan, kubernetes: correct --profile") {
		t.Errorf("a profile that is none: %v", err)
	}
}
