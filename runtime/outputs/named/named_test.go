package named

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/kinds"
)

// section is a file's section outputs, as a gate reads it.
func section(t *testing.T, text string) Section {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gate.yaml")
	require.NoError(t, os.WriteFile(file, []byte("id: g\n"+text), 0o600))
	s, err := config.ReadOutputs(file)
	require.NoError(t, err)
	return s
}

const whole = `
outputs:
  warehouse:
    kind: postgres
    address: postgres://load@db.internal/load?sslmode=verify-full
    password_file: /run/secrets/warehouse
    window: 30s
    tags: {team: checkout, floor: 7}
    default: true
    create: false
  rows: {kind: jsonl, address: rows.jsonl, required: true, dead_letters: dead.jsonl}
`

// TestASectionIsReadWhole: each key stands where the kind looks for it, and what is shown has no secret but its place.
func TestASectionIsReadWhole(t *testing.T) {
	all, err := Read(section(t, whole))
	require.NoError(t, err)
	require.Len(t, all, 2)
	rows, house := &all[0], &all[1]
	require.Equal(t, []any{"rows", "jsonl", "rows.jsonl", false, true, "10s"}, []any{rows.Name, rows.Settings.Kind.Name, rows.Settings.Place, rows.Default, rows.Required(), rows.Window().String()})
	require.Equal(t, []any{"warehouse", "postgres", true, false, "30s", false}, []any{house.Name, house.Settings.Kind.Name, house.Default, house.Required(), house.Window().String(), house.Settings.Bool("create")})
	require.Equal(t, []message.Tag{{Name: "floor", Value: "7"}, {Name: "team", Value: "checkout"}}, house.Settings.Tags)
	require.Equal(t, "password_file=/run/secrets/warehouse", house.Settings.Secret("password").String())
	require.Equal(t, "postgres=postgres://hidden@db.internal/load?hidden,create=false,required=false,window=30s,password_file=/run/secrets/warehouse,default=true,tags.floor=7,tags.team=checkout", house.String())
}

// TestFaultsOfASectionNameKeyValueAndRemedy, all of them at once, and none shows a secret.
func TestFaultsOfASectionNameKeyValueAndRemedy(t *testing.T) {
	for _, c := range []struct{ sink, want string }{
		{`{kind: postgress, address: x}`, `outputs.a.kind = "postgress" is no kind of output (did you mean postgres?): use jsonl, `},
		{`{address: x}`, `outputs.a.kind = "" is no kind of output: use jsonl, `},
		{`{kind: jsonl}`, "outputs.a.address: it is empty: write FILE, as in "},
		{`{kind: jsonl, address: [x]}`, "outputs.a.address is no text: write it in quotes"},
		{`{kind: postgres, address: "postgres://u:marked@h/d"}`, "outputs.a.address: it has a password, which each reader of the file would see: leave it out, and name the password's file with password_file"},
		{`{kind: postgres, address: "mysql://u@h/d"}`, "outputs.a: "},
		{`{kind: jsonl, address: x, window: 7s}`, `outputs.a.window = "7s": use 1s, 5s, 10s, 30s, 60s, 300s`},
		{`{kind: jsonl, address: x, windw: 5s}`, "outputs.a.windw is no option of kind jsonl (did you mean window?): use window, required, dead_letters"},
		{`{kind: jsonl, address: x, defalt: true}`, "outputs.a.defalt is no key of a sink (did you mean default?): use kind, address, default, tags, or an option of kind jsonl"},
		{`{kind: jsonl, address: x, default: sure}`, `outputs.a.default = "sure": write true or false`},
		{`{kind: jsonl, address: x, required: 1}`, `outputs.a.required = "1": write true or false`},
		{`{kind: jsonl, address: x, window: [5s]}`, "outputs.a.window is a list or a map: write one value"},
		{`{kind: jsonl, address: x, tags: a}`, "outputs.a.tags is no map: write it as {NAME: VALUE}"},
		{`{kind: jsonl, address: x, tags: {a: ""}}`, `outputs.a.tags.a = "": write a name and a value of 1 to 64 bytes`},
		{`{kind: webhook, address: "https://h/", token: marked}`, "outputs.a.token: a configuration has no secrets: name its file with token_file, or its variable with token_env"},
		{`{kind: webhook, address: "https://h/", token_file: a, token_env: b}`, "outputs.a.token_file: give one of token_file=FILE and token_env=VARIABLE, once"},
	} {
		_, err := Read(section(t, "outputs: {a: "+c.sink+"}\n"))
		require.ErrorContains(t, err, c.want, c.sink)
		require.NotContains(t, err.Error(), "marked", c.sink)
	}
	_, err := Read(section(t, "outputs:\n  a: {kind: x}\n  none: {kind: jsonl, address: b}\n  \"a b\": {kind: jsonl, address: c}\n"))
	_, both := Read(section(t, "outputs:\n  a: {kind: jsonl, window: 7s}\n"))
	require.ErrorContains(t, both, "outputs.a.address: it is empty")
	require.ErrorContains(t, both, "outputs.a.window = ")
	for _, want := range []string{"outputs.a.kind", `outputs.none: "none" leaves the default sinks out: give the sink another name`, `outputs.a b: "a b" is no name of a sink: write 1 to 64 small letters`} {
		require.ErrorContains(t, err, want)
	}
	many := Section{}
	for i := range SinksMax + 1 {
		many[strings.Repeat("a", i+1)] = map[string]any{"kind": "jsonl", "address": "x"}
	}
	_, err = Read(many)
	require.EqualError(t, err, "outputs has 17 sinks: name at most 16")
}

// TestGatesHaveNoSinksThatSumUp: what one command can add up, a successor of a gate cannot.
func TestGatesHaveNoSinksThatSumUp(t *testing.T) {
	sum := Section{"collector": {"kind": "otlp", "address": "http://h:4318"}}
	_, err := Read(sum)
	require.NoError(t, err)
	_, err = ReadForGate(sum)
	require.ErrorContains(t, err, "outputs.collector: temporality = cumulative is a sum since the job's begin")
	sum["collector"]["temporality"] = "delta"
	all, err := ReadForGate(sum)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// TestSecretsThatRotateAreReadAgain: what a sink of a configuration sends is what its file has now.
func TestSecretsThatRotateAreReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("first"), 0o600))
	all, err := Read(Section{"hook": {"kind": "webhook", "address": "https://h/", "token_file": file}})
	require.NoError(t, err)
	for _, want := range []string{"first", "second"} {
		require.NoError(t, os.WriteFile(file, []byte(want+"\n"), 0o600))
		got, err := all[0].Settings.Secret("token").Read()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func names(all []Sink) (names []string) {
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// TestAJobHasWhatItNamesOrTheDefaults, and none of them if it says so.
func TestAJobHasWhatItNamesOrTheDefaults(t *testing.T) {
	all, err := Read(section(t, whole))
	require.NoError(t, err)
	for _, c := range []struct {
		asked []string
		want  []string
	}{
		{nil, []string{"warehouse"}}, {[]string{"rows"}, []string{"rows"}}, {[]string{None}, nil},
		{[]string{"warehouse", "rows"}, []string{"rows", "warehouse"}}, {[]string{"warehouse"}, []string{"warehouse"}},
	} {
		got, err := Choose(all, c.asked)
		require.NoError(t, err)
		require.Equal(t, c.want, names(got), "%q", c.asked)
	}
	_, err = Choose(all, []string{"warehose", "rows"})
	require.EqualError(t, err, `no sink "warehose" is configured (did you mean warehouse?): the configuration names rows, warehouse`)
	_, err = Choose(all, []string{None, "rows"})
	require.EqualError(t, err, `sink "none" beside 1 others: it leaves all sinks out, so it stands alone`)
	_, err = Choose(nil, []string{"warehouse"})
	require.ErrorContains(t, err, "the section outputs of the configuration names sinks")
}

// TestDigestsTellNamesKindsAndWindowsApart, and nothing else: addresses and secrets of gates may differ.
func TestDigestsTellNamesKindsAndWindowsApart(t *testing.T) {
	of := func(s Section) string {
		all, err := Read(s)
		require.NoError(t, err)
		return Digest(all)
	}
	base := func() Section { return Section{"a": {"kind": "jsonl", "address": "x"}} }
	same := base()
	same["a"]["address"], same["a"]["required"], same["a"]["dead_letters"], same["a"]["tags"] = "y", "true", "d", map[string]any{"rack": "2"}
	require.Equal(t, of(base()), of(same))
	kind, window, name, more := base(), base(), Section{"b": base()["a"]}, base()
	kind["a"]["kind"], window["a"]["window"], more["b"] = "sqlite", "30s", map[string]any{"kind": "jsonl", "address": "z"}
	seen := map[string]bool{of(base()): true, of(Section{}): true}
	for _, s := range []Section{kind, window, name, more} {
		require.False(t, seen[of(s)], "%v", s)
		seen[of(s)] = true
	}
}

// TestSchemaHasEachKind, with each of its options, and no key of a file is missing in it.
func TestSchemaHasEachKind(t *testing.T) {
	b, err := json.Marshal(config.Schema(node.RoleGate, nil, Schema()))
	require.NoError(t, err)
	var got struct {
		Properties struct {
			Outputs struct {
				AdditionalProperties struct {
					AllOf []struct {
						If struct {
							Properties struct{ Kind struct{ Const string } }
						}
						Then struct{ Properties map[string]any }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(b, &got))
	for i, k := range kinds.All() {
		one := got.Properties.Outputs.AdditionalProperties.AllOf[i]
		require.Equal(t, k.Name, one.If.Properties.Kind.Const)
		for _, o := range append(k.Options, outputs.CommonOptions()...) {
			keys := []string{o.Name}
			if o.Type == outputs.OptionSecret {
				keys = []string{o.Name + "_file", o.Name + "_env"}
				require.NotContains(t, one.Then.Properties, o.Name)
			}
			for _, key := range keys {
				require.Contains(t, one.Then.Properties, key, k.Name)
			}
		}
	}
	b, err = json.Marshal(config.Schema(node.RoleWorker, nil, Schema()))
	require.NoError(t, err)
	require.NotContains(t, string(b), "outputs")
}

// FuzzRead: whatever a file has, Read ends with sinks or with an error, and shows no password of an address.
func FuzzRead(f *testing.F) {
	f.Add("postgres", "postgres://u:marked@h/d", "window", "10s")
	f.Add("webhook", "https://h/?key=marked", "token", "marked")
	f.Add("none", "", "tags", "")
	f.Fuzz(func(t *testing.T, kind, address, key, value string) {
		all, err := Read(Section{"a": {"kind": kind, "address": address, key: value}})
		if err == nil && (len(all) != 1 || all[0].Settings == nil || all[0].String() == "") {
			t.Errorf("%v without an error", all)
		}
	})
}
