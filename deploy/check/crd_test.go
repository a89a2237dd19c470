package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// resource is the schema of LoadTest, as an API server has it in its memory.
type resource struct {
	structural *schema.Structural
	fields     validation.SchemaValidator
	rules      *cel.Validator
}

var crdFile = filepath.Join("..", "kubernetes", "components", "operator", "crd.yaml")

func loadTestResource(t *testing.T) *resource {
	t.Helper()
	text, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	r, faults := resourceOf(string(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return r
}

// resourceOf reads a CustomResourceDefinition as an API server does when it is created.
func resourceOf(text string) (r *resource, faults []string) {
	var outer apiextensionsv1.CustomResourceDefinition
	if err := strictly(text, &outer); err != nil {
		return nil, []string{err.Error()}
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&outer)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&outer.Spec)
	outer.Status.StoredVersions = []string{"v1alpha1"}
	var inner apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&outer, &inner, nil); err != nil {
		return nil, []string{err.Error()}
	}
	for _, err := range crdvalidation.ValidateCustomResourceDefinition(context.Background(), &inner) {
		faults = append(faults, err.Error())
	}
	if len(faults) > 0 {
		return nil, faults
	}
	of := inner.Spec.Validation
	if of == nil {
		of = inner.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(of.OpenAPIV3Schema)
	if err != nil {
		return nil, []string{err.Error()}
	}
	fields, _, err := validation.NewSchemaValidator(of.OpenAPIV3Schema)
	if err != nil {
		return nil, []string{err.Error()}
	}
	return &resource{structural, fields, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// object reads an object of YAML as an API server has it.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	out := map[string]any{}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// faults are what an API server says of an object; old is nil for a new one. What no field of the schema is for is left out of the
// object, and named.
func (r *resource) faults(is, old map[string]any) (faults []string) {
	pruned := pruning.PruneWithOptions(is, r.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range pruned {
		faults = append(faults, path+": unknown field")
	}
	var all field.ErrorList
	if old == nil {
		all = validation.ValidateCustomResource(nil, is, r.fields)
	} else {
		all = validation.ValidateCustomResourceUpdate(nil, is, old, r.fields)
	}
	all = append(all, listtype.ValidateListSetsAndMaps(nil, r.structural, is)...)
	if len(all) == 0 { // as the server does: rules read what the schema has let through
		var before any
		if old != nil {
			before = old
		}
		more, _ := r.rules.Validate(context.Background(), nil, r.structural, is, before, celconfig.RuntimeCELCostBudget)
		all = append(all, more...)
	}
	for _, err := range all {
		faults = append(faults, err.Error())
	}
	return faults
}

const goodTest = `
apiVersion: load.hyperscale.internal/v1alpha1
kind: LoadTest
metadata: {name: checkout-1042, namespace: shop}
spec:
  program: {configMap: checkout, file: main.star}
  parameters: {target: "https://staging.shop"}
  vus: 100
  duration: 5m
  rate: 500/s
  datacenters: [fra, iad]
  count: 2
  importance: high
  deadline: 1h
  outputs: [warehouse, lake]
  cancel: false
  ttlAfterFinished: 24h
`

// TestLoadTest: the example of the manual, what a person may change, and the status that the operator writes are taken whole.
func TestLoadTest(t *testing.T) {
	r := loadTestResource(t)
	old := object(t, goodTest)
	for name, text := range map[string]string{
		"whole":    goodTest,
		"least":    "metadata: {name: a}\nspec: {program: {inline: x}}",
		"no sinks": "metadata: {name: a}\nspec: {program: {inline: x}, outputs: [none]}",
		"steps":    "metadata: {name: a}\nspec: {program: {inline: x}, stages: ['30s:100', '1m:0']}",
	} {
		if faults := r.faults(object(t, text), nil); len(faults) > 0 {
			t.Errorf("%s: %q", name, faults)
		}
	}
	for _, edit := range [][2]string{{"cancel: false", "cancel: true"}, {"ttlAfterFinished: 24h", "ttlAfterFinished: 1h"}, {"  ttlAfterFinished: 24h\n", ""}} {
		if faults := r.faults(object(t, strings.Replace(goodTest, edit[0], edit[1], 1)), old); len(faults) > 0 {
			t.Errorf("%q: %q", edit, faults)
		}
	}
	written, err := os.ReadFile(filepath.Join("..", "..", "runtime", "operator", "testdata", "statuses.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(written)), "\n")
	if len(all) < 5 {
		t.Errorf("%d statuses, want those of a whole life", len(all))
	}
	for _, line := range all {
		with := object(t, goodTest)
		with["status"] = object(t, line)
		if faults := r.faults(with, old); len(faults) > 0 {
			t.Errorf("%s: %q", line, faults)
		}
	}
}

// TestLoadTestMistakes: each is rejected, by its path.
func TestLoadTestMistakes(t *testing.T) {
	r := loadTestResource(t)
	long := strings.Repeat("x", 1025)
	for _, tt := range []struct{ find, replace, want string }{
		{"name: checkout-1042", "name: " + strings.Repeat("n", 64), "at most 63 characters"},
		{"spec:", "spc:", "spec: Required value"},
		{"  program: {configMap: checkout, file: main.star}\n", "", "spec.program: Required value"},
		{"program: {configMap: checkout, file: main.star}", "program: main.star", "spec.program: Invalid value"},
		{"program: {configMap: checkout, file: main.star}", "program: {}", "spec.program: Invalid value: give either"},
		{"configMap: checkout, file: main.star", "configMap: checkout, file: main.star, inline: x", "spec.program: Invalid value: give either"},
		{"configMap: checkout, file: main.star", "configMap: checkout", "spec.program: Invalid value: configMap and file belong together"},
		{"configMap: checkout, file: main.star", "inline: x, file: main.star", "spec.program: Invalid value: configMap and file belong together"},
		{"configMap: checkout, file: main.star", "inline: ''", "spec.program.inline"},
		{"configMap: checkout, file: main.star", "inline: " + strings.Repeat("x", 65537), "spec.program.inline: Too long"},
		{"configMap: checkout", "configMap: Check_Out", "spec.program.configMap"},
		{"file: main.star", "file: ../main.star", "spec.program.file"},
		{"file: main.star", "fle: main.star", "spec.program.fle: unknown field"},
		{"target: \"https://staging.shop\"", "target: 7", "spec.parameters.target: Invalid value"},
		{"target: \"https://staging.shop\"", "target: " + long, "spec.parameters.target: Too long"},
		{"parameters: {target: \"https://staging.shop\"}", "parameters: [target]", "spec.parameters: Invalid value"},
		{"vus: 100", "vus: 0", "spec.vus: Invalid value: 0"},
		{"vus: 100", "vus: '100'", "spec.vus: Invalid value"},
		{"vus: 100", "vus: 1.5", "spec.vus: Invalid value"},
		{"vus: 100", "vu: 100", "spec.vu: unknown field"},
		{"duration: 5m", "duration: 5 minutes", "spec.duration: Invalid value"},
		{"duration: 5m", "duration: 300", "spec.duration: Invalid value"},
		{"rate: 500/s", "rate: 500", "spec.rate: Invalid value"},
		{"rate: 500/s", "rate: fast/s", "spec.rate: Invalid value"},
		{"rate: 500/s", "stages: ['30s:100']", "spec.stages: Invalid value: stages replace rate and duration"},
		{"  duration: 5m\n  rate: 500/s", "  stages: [soon]", "spec.stages[0]"},
		{"  duration: 5m\n  rate: 500/s", "  stages: []", "spec.stages: Invalid value"},
		{"[fra, iad]", "[fra, fra]", "spec.datacenters[1]: Duplicate value"},
		{"[fra, iad]", "fra", "spec.datacenters: Invalid value"},
		{"[fra, iad]", "['fra west']", "spec.datacenters[0]"},
		{"[fra, iad]", "[]", "spec.datacenters: Invalid value"},
		{"count: 2", "count: 65", "spec.count: Invalid value"},
		{"importance: high", "importance: urgent", "spec.importance: Unsupported value"},
		{"deadline: 1h", "deadline: tomorrow", "spec.deadline: Invalid value"},
		{"outputs: [warehouse, lake]", "outputs: warehouse", "spec.outputs: Invalid value"},
		{"outputs: [warehouse, lake]", "outputs: []", "spec.outputs: Invalid value"},
		{"outputs: [warehouse, lake]", "outputs: [warehouse, warehouse]", "spec.outputs[1]: Duplicate value"},
		{"outputs: [warehouse, lake]", "outputs: ['postgres://h/d']", "spec.outputs[0]"},
		{"outputs: [warehouse, lake]", "outputs: [warehouse, none]", "spec.outputs: Invalid value: none leaves all sinks out: it stands alone"},
		{"outputs: [warehouse, lake]", "output: [warehouse]", "spec.output: unknown field"},
		{"cancel: false", "cancel: 'no'", "spec.cancel: Invalid value"},
		{"cancel: false", "canceled: true", "spec.canceled: unknown field"},
		{"ttlAfterFinished: 24h", "ttlAfterFinished: 1d", "spec.ttlAfterFinished: Invalid value"},
		{"cancel: false", "secrets: {key: x}", "spec.secrets: unknown field"},
		{"spec:", "status: {phase: Done}\nspec:", "status.phase: Unsupported value"},
		{"spec:", "status: {progress: {requests: 1}}\nspec:", "status.progress.failed: Required value"},
		{"spec:", "status: {conditions: [{type: Accepted, status: true, reason: A, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\nspec:", "status.conditions[0].status"},
	} {
		mustReject(t, r, tt.find, tt.replace, tt.want, nil)
	}
}

// TestLoadTestStays: no field of the spec changes, appears or disappears, but for cancel, which stays true, and ttlAfterFinished.
func TestLoadTestStays(t *testing.T) {
	r := loadTestResource(t)
	old := object(t, goodTest)
	for _, tt := range []struct{ find, replace, want string }{
		{"configMap: checkout", "configMap: other", "spec.program"},
		{"file: main.star", "file: other.star", "spec.program"},
		{"staging", "production", "spec.parameters"},
		{"  parameters: {target: \"https://staging.shop\"}\n", "", "spec.parameters"},
		{"vus: 100", "vus: 101", "spec.vus"},
		{"  vus: 100\n", "", "spec.vus"},
		{"duration: 5m", "duration: 6m", "spec.duration"},
		{"rate: 500/s", "rate: 501/s", "spec.rate"},
		{"[fra, iad]", "[fra]", "spec.datacenters"},
		{"count: 2", "count: 1", "spec.count"},
		{"importance: high", "importance: low", "spec.importance"},
		{"  importance: high\n", "", "spec.importance"},
		{"deadline: 1h", "deadline: 2h", "spec.deadline"},
		{"[warehouse, lake]", "[warehouse]", "spec.outputs"},
		{"  outputs: [warehouse, lake]\n", "", "spec.outputs"},
		{"  duration: 5m\n  rate: 500/s", "  stages: ['30s:100']", "spec.stages"},
	} {
		mustReject(t, r, tt.find, tt.replace, tt.want+": Invalid value: immutable", old)
	}
	cancelled := strings.Replace(goodTest, "cancel: false", "cancel: true", 1)
	for _, text := range []string{goodTest, strings.Replace(goodTest, "  cancel: false\n", "", 1)} {
		if got := strings.Join(r.faults(object(t, text), object(t, cancelled)), "\n"); !strings.Contains(got, "spec.cancel: Invalid value: a cancelled load test stays cancelled") {
			t.Errorf("a cancelled test that goes on: %q", got)
		}
	}
}

func mustReject(t *testing.T, r *resource, find, replace, want string, old map[string]any) {
	t.Helper()
	broken := strings.Replace(goodTest, find, replace, 1)
	if broken == goodTest {
		t.Errorf("%q is not in the example", find)
		return
	}
	if got := strings.Join(r.faults(object(t, broken), old), "\n"); !strings.Contains(got, want) {
		t.Errorf("%.80q: %q, want %q in it", replace, got, want)
	}
}

// TestLoadTestDefinition: mistakes in the definition itself are found.
func TestLoadTestDefinition(t *testing.T) {
	text, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ find, replace, want string }{
		{"storage: true", "storage: false", "storage"},
		{"plural: loadtests", "plural: tests", "metadata.name"},
		{"self.program == oldSelf.program", "self.progam == oldSelf.program", "undefined field"},
		{"fieldPath: .vus", "fieldPath: .vu", "fieldPath"},
		{"maxLength: 65536", "maxLenght: 65536", "unknown field"},
		{"additionalProperties: {type: string, maxLength: 1024}", "additionalProperties: {type: text}", "type"},
		{"x-kubernetes-list-map-keys: [type]", "x-kubernetes-list-map-keys: [kind]", "kind"},
		{"jsonPath: .status.phase", "jsonPath: status.phase", "simple json path"},
	} {
		broken := strings.Replace(string(text), tt.find, tt.replace, 1)
		if broken == string(text) {
			t.Errorf("%q is not in the definition", tt.find)
			continue
		}
		_, faults := resourceOf(broken)
		if got := strings.Join(faults, "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%q: found %q, want %q in it", tt.replace, got, tt.want)
		}
	}
}
