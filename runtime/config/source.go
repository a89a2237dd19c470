package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"hyperscale/core/node"
	"hyperscale/core/setting"
)

// fileMax bounds a configuration file, in bytes.
const fileMax = 1 << 20

// prefix begins the environment's variables.
const prefix = "HYPERSCALE_"

// Sources are where a configuration comes from.
type Sources struct {
	File    string            // path of a YAML file; empty: none
	Environ []string          // as os.Environ returns it
	Flags   map[string]string // flags that were set, by name without dashes; lists joined by commas
}

// Load reads all sources over the defaults and validates the whole. It reports the faults of all sources.
func Load(role node.Role, s Sources) (Node, error) {
	n := Default(role)
	err := n.read(&s)
	if err == nil && n.Profile != "" {
		n = placed(role, n.Profile)
		err = n.read(&s)
	}
	if err != nil {
		return n, err // a value that cannot be read is not judged by its default
	}
	return n, n.Validate()
}

// read takes the values of all sources.
func (n *Node) read(s *Sources) error {
	return errors.Join(n.file(s.File), n.Environ(s.Environ), n.Flags(s.Flags))
}

// file reads a file over n; without a path it changes nothing.
func (n *Node) file(path string) error {
	if path == "" {
		return nil
	}
	b, err := readFile(path)
	if err != nil {
		return err
	}
	if err := n.YAML(b); err != nil {
		return fmt.Errorf("configuration %s: %w", path, err)
	}
	return nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w: correct --config", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w: correct --config", err)
	}
	if len(b) > fileMax {
		return nil, fmt.Errorf("configuration %s: more than %d bytes: this is no configuration of a node", path, fileMax)
	}
	return b, nil
}

// YAML reads a file's bytes over n. Errors give line and column.
func (n *Node) YAML(b []byte) (err error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	defer func() {
		// goccy/go-yaml v1.19.2 panics on a custom tag before a value that is not a list: see
		// testdata/fuzz.
		if v := recover(); v != nil {
			err = fmt.Errorf("it is no YAML that can be read (%v): write it as `key: value` lines", v)
		}
	}()
	if err := kinds(b); err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict(), yaml.CustomUnmarshaler(list))
	if err := d.Decode(n); err != nil && err != io.EOF {
		var unknown *yaml.UnknownFieldError
		if errors.As(err, &unknown) {
			all := append(keys(), outputsKey)
			_, name, _ := strings.Cut(strings.TrimSuffix(unknown.GetMessage(), `"`), `"`)
			return fmt.Errorf("%s\nkeys are%s: %s", yaml.FormatError(err, false, true), setting.DidYouMean(name, all), strings.Join(all, ", "))
		}
		return errors.New(yaml.FormatError(err, false, true))
	}
	var more any
	if err := d.Decode(&more); err != io.EOF {
		return errors.New("it holds more than one document: put each node's into a file of its own")
	}
	return nil
}

// kinds rejects values that are of another kind than their keys. The decoder says that in types of Go, and rounds 1.5 down.
func kinds(b []byte) error {
	var faults []error
	for _, pair := range pairsOf(b) {
		if pair.Key.String() == outputsKey && !sinksFit(pair.Value) {
			fault := &yaml.SyntaxError{Message: fmt.Sprintf("outputs = %.80s is no map of sinks: write it as {NAME: {kind: jsonl, address: rows/}}", pair.Value), Token: pair.Value.GetToken()}
			faults = append(faults, errors.New(yaml.FormatError(fault, false, true)))
		}
		at := slices.IndexFunc(fields(), func(f reflect.StructField) bool { return f.Tag.Get("yaml") == pair.Key.String() })
		if at < 0 {
			continue // the decoder says it
		}
		if t := fields()[at].Type; !fits(pair.Value, t) {
			fault := &yaml.SyntaxError{Message: fmt.Sprintf("%v = %.80s is no %s: %s", pair.Key, pair.Value, kindOf(t), example(t)), Token: pair.Value.GetToken()}
			faults = append(faults, errors.New(yaml.FormatError(fault, false, true)))
		}
	}
	return errors.Join(faults...)
}

// outputsKey is the section of sinks: it is no flag and no variable, as it has keys of its own.
const outputsKey = "outputs"

// sinksFit reports whether a node of YAML may be a map of maps.
func sinksFit(value ast.Node) bool {
	switch of := value.(type) {
	case *ast.NullNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return true // the decoder looks into them
	case *ast.MappingNode:
		return !slices.ContainsFunc(of.Values, func(v *ast.MappingValueNode) bool { return !sinkFits(v.Value) })
	case *ast.MappingValueNode:
		return sinkFits(of.Value)
	}
	return false
}

func sinkFits(value ast.Node) bool {
	switch value.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// ReadOutputs reads the section of sinks of a file, which may have what a gate's file has.
func ReadOutputs(path string) (map[string]map[string]any, error) {
	var n Node
	err := n.file(path)
	return n.Outputs, err
}

// fits reports whether a node of YAML may be a value of a type.
func fits(value ast.Node, t reflect.Type) bool {
	switch value.(type) {
	case *ast.NullNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return true // the decoder looks into them
	}
	switch of := value.(type) {
	case *ast.SequenceNode:
		return t.Kind() == reflect.Slice && !slices.ContainsFunc(of.Values, func(v ast.Node) bool { return !fits(v, t.Elem()) })
	case *ast.MappingNode:
		return t.Kind() == reflect.Map && !slices.ContainsFunc(of.Values, func(v *ast.MappingValueNode) bool { return !fits(v.Value, t.Elem()) })
	case *ast.MappingValueNode:
		return t.Kind() == reflect.Map && fits(of.Value, t.Elem())
	}
	scalar, ok := value.(ast.ScalarNode)
	if !ok {
		return false
	}
	text := scalar.GetToken().Value
	switch {
	case t == reflect.TypeFor[time.Duration]():
		_, err := time.ParseDuration(text)
		return err == nil
	case t.Kind() == reflect.Int:
		_, err := strconv.Atoi(text)
		return err == nil
	case t.Kind() == reflect.Bool:
		return value.Type() == ast.BoolType
	}
	return t.Kind() != reflect.Map
}

// list reads a list, which may be written as a flag has it: a, b.
func list(to *[]string, b []byte) error {
	if err := yaml.Unmarshal(b, to); err == nil {
		return nil
	}
	var text string
	if err := yaml.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("%.80q is no list: write it as [a, b]", bytes.TrimSpace(b))
	}
	*to = nil
	for _, element := range strings.Split(text, ",") {
		*to = append(*to, strings.TrimSpace(element))
	}
	return nil
}

// others are variables that are no settings of a node: values for files and parameters, the password of `ping`, the
// history of runs, and those of this project's own tests and tools. One that ends in _ begins the names of a family.
var others = []string{
	"SECRET_", "SET_", "PASSWORD", "HISTORY",
	"BENCH_", "CHAOS_", "CI", "COMPARE_", "DETERMINISM_", "EXEC_TEST_", "FLOOD", "FORMER", "KILLS", "KUBE", "KUBE_", "MUTANTS_", "PLANTED", "PLANTED_BUG", "TERMINAL", "TEST_SECRET",
}

// known reports whether a variable has a reader, without the prefix.
func known(rest string) bool {
	return linked.MatchString(rest) || slices.Contains(keys(), strings.ToLower(rest)) && strings.ToUpper(rest) == rest ||
		slices.ContainsFunc(others, func(o string) bool { return rest == o || strings.HasSuffix(o, "_") && strings.HasPrefix(rest, o) })
}

// linked is what Kubernetes sets for each service: one named hyperscale-gate is HYPERSCALE_GATE_SERVICE_HOST, and one
// named hyperscale is HYPERSCALE_SERVICE_HOST.
var linked = regexp.MustCompile(`^([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// Unread rejects variables of the prefix HYPERSCALE_ that nothing reads: a misspelt one would change nothing in silence.
func Unread(environ []string) error {
	var all []string
	var faults []error
	for _, set := range environ {
		name, _, _ := strings.Cut(set, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		if !ours || known(rest) {
			continue
		}
		if all == nil {
			for _, k := range Keys() {
				all = append(all, k.Variable())
			}
		}
		faults = append(faults, fmt.Errorf("%s is no setting%s: correct its name, or unset it", name, setting.DidYouMean(name, all)))
	}
	if len(faults) > 0 {
		faults = append(faults, fmt.Errorf("settings are: %s", strings.Join(all, ", ")))
	}
	return errors.Join(faults...)
}

// Environ reads HYPERSCALE_... over n. It rejects what Unread does.
func (n *Node) Environ(environ []string) error {
	return errors.Join(Unread(environ), n.variables(env.ToMap(environ), func(key string) string { return prefix + strings.ToUpper(key) }))
}

// Flags reads flags over n: --log-level is log_level, --seed adds to seeds.
func (n *Node) Flags(set map[string]string) error {
	as := map[string]string{}
	for flag, value := range set {
		key := strings.ReplaceAll(flag, "-", "_")
		if key == "seed" {
			key = "seeds"
		}
		if !slices.Contains(keys(), key) {
			node.Bug("config: flag --%s has no key", flag)
		}
		as[prefix+strings.ToUpper(key)] = value
	}
	return n.variables(as, func(key string) string {
		if key == "seeds" {
			return "--seed"
		}
		return "--" + strings.ReplaceAll(key, "_", "-")
	})
}

// variables reads a map into n; called returns a key's name in its source.
func (n *Node) variables(values map[string]string, called func(key string) string) error {
	// A list that is set replaces the one before, and elements may have spaces
	// around them: "a, b".
	before := n.Settings
	n.Settings = nil
	err := env.ParseWithOptions(n, env.Options{Environment: values, Prefix: prefix})
	if n.Settings == nil && before != nil {
		n.Settings = map[string]string{}
	}
	//lint:orderfree each key once
	for key, value := range before {
		if _, again := n.Settings[key]; !again {
			n.Settings[key] = value
		}
	}
	for _, list := range []*[]string{&n.Seeds, &n.Gates, &n.Managers, &n.ExecutorEnv} {
		for i, v := range *list {
			(*list)[i] = strings.TrimSpace(v)
		}
	}
	if err == nil {
		return nil
	}
	var faults []error
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("configuration: %w", err)
	}
	for _, e := range all.Errors {
		var p env.ParseError
		if !errors.As(e, &p) {
			faults = append(faults, e)
			continue
		}
		key := keyOf(p.Name)
		faults = append(faults, fmt.Errorf("%s = %q is no %s: %s", called(key), values[prefix+strings.ToUpper(key)], kindOf(p.Type), example(p.Type)))
	}
	return errors.Join(faults...)
}

// keys lists the keys that each source may have, in the order of the struct.
func keys() []string {
	var all []string
	for _, f := range fields() {
		all = append(all, f.Tag.Get("yaml"))
	}
	return all
}

// fields are those of Node that have keys in each source.
var fields = sync.OnceValue(func() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Node]()), func(f reflect.StructField) bool { return f.Anonymous || f.Tag.Get("env") == "" })
})

// keyOf is the key of a field of Node.
func keyOf(field string) string {
	f, _ := reflect.TypeFor[Node]().FieldByName(field)
	return f.Tag.Get("yaml")
}

func kindOf(t reflect.Type) string {
	switch t.String() {
	case "time.Duration":
		return "duration"
	case "int":
		return "number"
	case "bool":
		return "truth"
	case "string":
		return "text"
	case "[]string":
		return "list"
	case "map[string]string":
		return "map"
	}
	return t.String()
}

func example(t reflect.Type) string {
	if t.String() == "time.Duration" {
		return `write a number and its unit, like "10s" or "1m30s"`
	}
	switch t.Kind() {
	case reflect.Bool:
		return `write "true" or "false"`
	case reflect.String:
		return `write one word, or a text in quotes`
	case reflect.Map:
		return `write it as {key: value}`
	case reflect.Slice:
		return `write it as [a, b]`
	}
	return `write a whole number, like "4"`
}
