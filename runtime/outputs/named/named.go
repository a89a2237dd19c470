package named

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/setting"
	"hyperscale/runtime/export"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/kinds"
)

// Bounds of a section.
const (
	SinksMax = 16 // of one configuration: a job names as many
	NameMax  = 64 // bytes of a name
	TagsMax  = 16 // of one sink
	TagMax   = 64 // bytes of a tag's name, and of its value
)

// None is the name that leaves the default sinks out. No sink has it.
const None = "none"

// Section is the section `outputs` of a file: keys and values by the name of a sink.
type Section = map[string]map[string]any

// Sink is a sink of a configuration.
type Sink struct {
	Name     string
	Settings *outputs.Settings
	Default  bool // jobs that name no sink have it
}

// own are the keys of a sink that are no options of its kind.
var own = []string{"kind", "address", "default", "tags"}

// Read reads a section, in the order of the names.
func Read(s Section) ([]Sink, error) {
	if len(s) > SinksMax {
		return nil, fmt.Errorf("outputs has %d sinks: name at most %d", len(s), SinksMax)
	}
	var all []Sink
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(s)) {
		one, wrong := read(name, s[name])
		for _, err := range wrong {
			faults = append(faults, fmt.Errorf("outputs.%s%w", name, err))
		}
		all = append(all, one)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return all, nil
}

// ReadForGate reads a section whose sinks get a job's rows from one gate after the other.
func ReadForGate(s Section) ([]Sink, error) {
	all, err := Read(s)
	if err != nil {
		return nil, err
	}
	var faults []error
	for i := range all {
		if alone := all[i].Settings.Kind.Alone; alone != nil {
			if why := alone(all[i].Settings); why != "" {
				faults = append(faults, fmt.Errorf("outputs.%s: %s", all[i].Name, why))
			}
		}
	}
	return all, errors.Join(faults...)
}

// read reads one sink. Errors begin behind its name.
func read(name string, keys map[string]any) (s Sink, faults []error) {
	s.Name = name
	if err := CheckName(name); err != nil {
		faults = append(faults, fmt.Errorf(": %w", err))
	}
	kind, ok := text(keys["kind"])
	k, known := kinds.Find(kind)
	if !ok || !known {
		all := kindNames()
		return s, append(faults, fmt.Errorf(".kind = %q is no kind of output%s: use %s", kind, setting.DidYouMean(kind, all), strings.Join(all, ", ")))
	}
	address, ok := text(keys["address"])
	if _, given := keys["address"]; given && !ok {
		return s, append(faults, fmt.Errorf(".address is no text: write it in quotes"))
	}
	settings, err := outputs.Placed(&k, address)
	if err != nil {
		faults = append(faults, fmt.Errorf(".address: %w", err))
	}
	s.Settings = settings
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := s.set(key, keys[key]); err != nil {
			faults = append(faults, err)
		}
	}
	if _, given := keys["required"]; !given {
		faults = append(faults, prefixed(settings.Give("required", "false")))
	}
	if faults = slices.DeleteFunc(faults, func(err error) bool { return err == nil }); len(faults) > 0 {
		return s, faults
	}
	if _, err := s.Open(); err != nil {
		faults = append(faults, fmt.Errorf(": %w", err))
	}
	return s, faults
}

// CheckName rejects what cannot be the name of a sink.
func CheckName(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name == "" || len(name) > NameMax || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return fmt.Errorf("%.80q is no name of a sink: write 1 to %d small letters, digits, - or _", name, NameMax)
	}
	if name == None {
		return fmt.Errorf("%q leaves the default sinks out: give the sink another name", None)
	}
	return nil
}

func prefixed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(".%w", err)
}

// set reads one key.
func (s *Sink) set(key string, value any) error {
	switch key {
	case "kind", "address":
		return nil
	case "tags":
		return s.tags(value)
	case "default":
		is, ok := value.(bool)
		if !ok {
			return fmt.Errorf(".default = %.80q: write true or false", fmt.Sprint(value))
		}
		s.Default = is
		return nil
	}
	v, ok := text(value)
	if !ok {
		return fmt.Errorf(".%.80s is a list or a map: write one value", key)
	}
	err := s.Settings.Give(key, v)
	if near := setting.DidYouMean(key, own); near != "" && err != nil && strings.Contains(err.Error(), "is no option") {
		return fmt.Errorf(".%s is no key of a sink%s: use %s, or an option of kind %s", key, near, strings.Join(own, ", "), s.Settings.Kind.Name)
	}
	return prefixed(err)
}

// tags reads the labels that each row gets.
func (s *Sink) tags(value any) error {
	all, ok := value.(map[string]any)
	if !ok {
		return errors.New(".tags is no map: write it as {NAME: VALUE}")
	}
	if len(all) > TagsMax {
		return fmt.Errorf(".tags has %d: name at most %d", len(all), TagsMax)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, ok := text(all[name])
		if !ok || name == "" || v == "" || len(name) > TagMax || len(v) > TagMax {
			return fmt.Errorf(".tags.%.80s = %.80q: write a name and a value of 1 to %d bytes", name, fmt.Sprint(all[name]), TagMax)
		}
		s.Settings.Tags = append(s.Settings.Tags, message.Tag{Name: name, Value: v})
	}
	return nil
}

// text is a value of YAML as its option reads it; false: it is none.
func text(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case uint64, int64, int:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

func kindNames() (all []string) {
	for _, k := range kinds.All() {
		all = append(all, k.Name)
	}
	return all
}

// Open makes the place of a sink. It connects to nothing.
func (s *Sink) Open() (outputs.Sink, error) { return s.Settings.Kind.Open(s.Settings) }

// Window is the length of the windows of the sink's rows.
func (s *Sink) Window() time.Duration { return s.Settings.Window() }

// Required says that no job with this sink begins while it takes no rows.
func (s *Sink) Required() bool { return s.Settings.Required() }

// String is the sink as `config show` prints it: its address without what may be secret, and secrets by where they are.
func (s *Sink) String() string {
	parts := append([]string{Shown(s.Settings)}, s.Settings.Given()...)
	if s.Default {
		parts = append(parts, "default=true")
	}
	for _, t := range s.Settings.Tags {
		parts = append(parts, "tags."+t.Name+"="+t.Value)
	}
	return strings.Join(parts, ",")
}

// Shown is a place as --out names it, without what may be secret.
func Shown(s *outputs.Settings) string { return s.Kind.Name + "=" + export.Discreet(s.Place) }

// Find is the sink of a name.
func Find(all []Sink, name string) (*Sink, error) {
	var names []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no sink %.80q is configured: the section outputs of the configuration names sinks", name)
	}
	return nil, fmt.Errorf("no sink %.80q is configured%s: the configuration names %s", name, setting.DidYouMean(name, names), strings.Join(names, ", "))
}

// Choose returns the sinks of a job: those that it names, or the default ones if it names none. None alone names no sink.
func Choose(all []Sink, names []string) (chosen []Sink, err error) {
	if slices.Contains(names, None) {
		if len(names) > 1 {
			return nil, fmt.Errorf("sink %q beside %d others: it leaves all sinks out, so it stands alone", None, len(names)-1)
		}
		return nil, nil
	}
	for _, name := range names {
		if _, wrong := Find(all, name); wrong != nil {
			err = errors.Join(err, wrong)
		}
	}
	for i := range all {
		if all[i].Default && len(names) == 0 || slices.Contains(names, all[i].Name) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, err
}

// Digest names a set of sinks: equal for gates that deliver the same rows to sinks of the same names. Empty: no sinks.
func Digest(all []Sink) string {
	if len(all) == 0 {
		return ""
	}
	h := sha256.New()
	for i := range all {
		for _, part := range []string{all[i].Name, all[i].Settings.Kind.Name, all[i].Window().String()} {
			_, _ = h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))) // a hash takes all
			_, _ = h.Write([]byte(part))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
