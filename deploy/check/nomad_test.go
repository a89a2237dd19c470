package check

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

type nomadValues = map[string]cty.Value

// nomadTask is a task, with what it takes from its group and its job.
type nomadTask struct {
	job, group string
	count      int
	distinct   bool
	ports      map[string]int
	task       nomadValues // attributes
	args       []string
	env        map[string]string
	mounts     []string
	cores      int
}

// nomadReader evaluates expressions of a job, and keeps what it cannot evaluate.
type nomadReader struct {
	known  nomadValues
	faults error
}

// readNomad reads the tasks of a job. What Nomad fills in on a client has sample values.
func readNomad(text []byte, name string) (all []nomadTask, err error) {
	file, wrong := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	if wrong.HasErrors() {
		return nil, wrong
	}
	of := cty.ObjectVal
	r := nomadReader{known: nomadValues{
		"NOMAD_SECRETS_DIR": cty.StringVal("/secrets"), "NOMAD_ALLOC_DIR": cty.StringVal("/alloc"),
		"node": of(nomadValues{"unique": of(nomadValues{"name": cty.StringVal("host-1")})}),
		"attr": of(nomadValues{"unique": of(nomadValues{"network": of(nomadValues{"ip-address": cty.StringVal("10.0.0.1")})})}),
	}}
	body := file.Body.(*hclsyntax.Body)
	variables := nomadValues{}
	for _, b := range blocksOf(body, "variable") {
		if a := b.Body.Attributes["default"]; a != nil {
			variables[b.Labels[0]] = r.value(a)
		}
	}
	r.known["var"] = of(variables)
	for _, job := range blocksOf(body, "job") {
		for _, group := range blocksOf(job.Body, "group") {
			n := nomadTask{job: r.word(job, "type"), group: group.Labels[0], count: 1, ports: map[string]int{}, env: map[string]string{}}
			r.group(&n, group)
			all = append(all, n)
		}
	}
	return all, r.faults
}

func blocksOf(body *hclsyntax.Body, kind string) (all []*hclsyntax.Block) {
	for _, b := range body.Blocks {
		if b.Type == kind {
			all = append(all, b)
		}
	}
	return all
}

func (r *nomadReader) value(a *hclsyntax.Attribute) cty.Value {
	v, wrong := a.Expr.Value(&hcl.EvalContext{Variables: r.known})
	if wrong.HasErrors() {
		r.faults = errors.Join(r.faults, fmt.Errorf("%s: %w", a.Name, wrong))
		return cty.StringVal("")
	}
	return v
}

func (r *nomadReader) values(b *hclsyntax.Block) nomadValues {
	into := nomadValues{}
	for name, a := range b.Body.Attributes {
		into[name] = r.value(a)
	}
	return into
}

// word is an attribute's text; empty where the block has none.
func (r *nomadReader) word(b *hclsyntax.Block, name string) string {
	return wordOf(r.values(b)[name])
}

func wordOf(v cty.Value) string {
	if v == cty.NilVal || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

func numberOf(v cty.Value) int {
	if v == cty.NilVal || v.Type() != cty.Number {
		return 0
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

// group reads a group with its one task.
func (r *nomadReader) group(n *nomadTask, group *hclsyntax.Block) {
	if v, ok := r.values(group)["count"]; ok {
		n.count = numberOf(v)
	}
	for _, b := range blocksOf(group.Body, "constraint") {
		n.distinct = n.distinct || r.word(b, "operator") == "distinct_hosts"
	}
	for _, b := range blocksOf(group.Body, "network") {
		for _, p := range blocksOf(b.Body, "port") {
			n.ports[p.Labels[0]] = numberOf(r.values(p)["static"])
		}
	}
	for _, task := range blocksOf(group.Body, "task") {
		n.task = r.values(task)
		for _, b := range task.Body.Blocks {
			has := r.values(b)
			switch b.Type {
			case "config":
				for _, v := range has["args"].AsValueSlice() {
					n.args = append(n.args, v.AsString())
				}
			case "env":
				for name, v := range has {
					n.env[name] = wordOf(v)
				}
			case "volume_mount":
				n.mounts = append(n.mounts, wordOf(has["destination"]))
			case "resources":
				n.cores = numberOf(has["cores"])
			}
		}
	}
}

// judgeNomad says what is wrong with a task.
func judgeNomad(n *nomadTask) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, n.group+": "+fmt.Sprintf(format, args...)) }
	if err := configured(n.args, n.env); err != nil {
		say("%v", err)
	}
	stop := 20 * time.Second
	if s := n.env["HYPERSCALE_STOP_TIMEOUT"]; s != "" {
		stop, _ = time.ParseDuration(s)
	}
	if kill, err := time.ParseDuration(wordOf(n.task["kill_timeout"])); err != nil || kill < stop+10*time.Second {
		say("kill_timeout is less than 10 s above stop_timeout")
	}
	if got := wordOf(n.task["kill_signal"]); got != "SIGTERM" {
		say("kill_signal is %q, and SIGTERM is the drain", got)
	}
	for name, f := range map[string]string{"node": "listen", "admin": "admin"} {
		if _, port, _ := strings.Cut(flag(n.args, f), ":"); port != strconv.Itoa(n.ports[name]) {
			say("port %s is %d, and --%s is %q", name, n.ports[name], f, flag(n.args, f))
		}
	}
	if n.args[0] == "worker" {
		if n.job != "system" {
			say("the job's type is %q, want system", n.job)
		}
		if got := n.env["HYPERSCALE_CORES"]; got != strconv.Itoa(n.cores-1) {
			say("HYPERSCALE_CORES is %q of %d cores, want one less", got, n.cores)
		}
		return wrong
	}
	set := strings.Split(n.env["HYPERSCALE_"+strings.ToUpper(n.args[0])+"S"], ",")
	if n.count != len(set) {
		say("count is %d, and the set has %d members", n.count, len(set))
	}
	if !n.distinct {
		say("two members may share a host")
	}
	if n.job != "service" {
		say("the job's type is %q, want service", n.job)
	}
	if data := flag(n.args, "data"); !slices.ContainsFunc(n.mounts, func(m string) bool { return strings.HasPrefix(data, m+"/") }) {
		say("--data=%s is on no volume: %v", data, n.mounts)
	}
	return wrong
}

// nomadJobs are the files.
var nomadJobs = []string{"hyperscale.nomad.hcl", "workers.nomad.hcl"}

func readJob(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "nomad", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNomadJobs: HashiCorp's parser reads both jobs, and the binary takes their settings. No test runs Nomad, and the
// first line of each job says so.
func TestNomadJobs(t *testing.T) {
	roles := map[string]int{}
	for _, name := range nomadJobs {
		text := readJob(t, name)
		if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, "has never run on Nomad") {
			t.Errorf("%s begins with %q", name, first)
		}
		all, err := readNomad([]byte(text), name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			roles[all[i].args[0]]++
			for _, w := range judgeNomad(&all[i]) {
				t.Errorf("%s: %s", name, w)
			}
		}
	}
	if want := map[string]int{"gate": 1, "manager": 1, "worker": 1}; !maps.Equal(roles, want) {
		t.Errorf("tasks of %v, want %v", roles, want)
	}
}

// TestNomadMistakes: each planted mistake is found, for its own reason.
func TestNomadMistakes(t *testing.T) {
	nodes, workers := nomadJobs[0], nomadJobs[1]
	for _, m := range []struct{ file, find, replace, want string }{
		{nodes, "HYPERSCALE_GATES ", "HYPERSCALE_GATE ", "HYPERSCALE_GATE "},
		{nodes, "count = 3", "count = 4", "count is 4, and the set has 3 members"},
		{nodes, "distinct_hosts", "distinct_property", "two members may share a host"},
		{nodes, "--data=/data/gate", "--data=/gate", "--data=/gate is on no volume"},
		{nodes, "--admin=", "--admins=", "--admins is not a flag"},
		{nodes, "static = 7500", "static = 7400", "port node is 7400"},
		{nodes, `"SIGTERM"`, `"SIGKILL"`, `kill_signal is "SIGKILL"`},
		{nodes, "{\n  type = \"service\"", "\n  type = \"service\"", "Invalid block definition"},
		{workers, `"1h"`, `"30s"`, "kill_timeout is less than"},
		{workers, `"system"`, `"service"`, `type is "service"`},
		{workers, `"3"`, `"4"`, `HYPERSCALE_CORES is "4" of 4 cores`},
		{workers, "${NOMAD_SECRETS_DIR}", "${NOMAD_SECRET}", "NOMAD_SECRET"},
	} {
		text := readJob(t, m.file)
		planted := strings.Replace(text, m.find, m.replace, 1)
		if planted == text {
			t.Fatalf("%s has no %q", m.file, m.find)
		}
		all, err := readNomad([]byte(planted), m.file)
		found := fmt.Sprint(err)
		for i := range all {
			if err == nil {
				found += "\n" + strings.Join(judgeNomad(&all[i]), "\n")
			}
		}
		if !strings.Contains(found, m.want) {
			t.Errorf("%s with %q: want %q, found:\n%s", m.file, m.replace, m.want, found)
		}
	}
}
