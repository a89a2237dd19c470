package outputs

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/setting"
)

// placeMax bounds a place with its options, in bytes.
const placeMax = 4096

// Settings are a place with its options.
type Settings struct {
	Kind  *Kind
	Place string
	Tags  []message.Tag // of each row, beside those of the job

	given  map[string]string // values as the user wrote them, by option
	secret map[string]Secret
}

// optionName finds where an option may begin.
var optionName = regexp.MustCompile(`,([a-z][a-z0-9_]*)=`)

// Parse reads PLACE[,option=value...]. Options begin at the first `,name=` whose name the kind has, so an address may
// have commas. A name that nearly is one of the kind's is a mistake, and no part of the place; in an address each name
// is one of the kind's, since a misspelt secret would be part of what errors show.
func Parse(k *Kind, text string) (*Settings, error) {
	if len(text) > placeMax {
		return nil, fmt.Errorf("the place has %d bytes: give at most %d", len(text), placeMax)
	}
	options := append(slices.Clone(k.Options), CommonOptions()...)
	names := namesOf(options)
	s := &Settings{Kind: k, Place: text, given: map[string]string{}, secret: map[string]Secret{}}
	cuts := optionName.FindAllStringSubmatchIndex(text, -1)
	for i, c := range cuts {
		name, end := text[c[2]:c[3]], len(text)
		if slices.Contains(names, name) {
			if len(s.given) == 0 && len(s.secret) == 0 {
				s.Place = text[:c[0]]
			}
			if i+1 < len(cuts) {
				end = cuts[i+1][0]
			}
			if err := s.set(options, name, text[c[1]:end]); err != nil {
				return nil, err
			}
			continue
		}
		if slices.Contains(bare(options), name) {
			return nil, fmt.Errorf("%s= would be in the list of processes and in the shell's history: use %s_file=FILE or %s_env=VARIABLE", name, name, name)
		}
		near := setting.DidYouMean(name, append(bare(options), names...))
		if s.Place != text || near != "" || strings.Contains(text[:c[0]], "://") {
			return nil, fmt.Errorf("%s is no option of %s%s: use %s; a comma of an address may be %%2C", name, k.Name, near, strings.Join(names, ", "))
		}
	}
	return s, s.checkPlace()
}

// checkPlace rejects an empty place, and a password in an address.
func (s *Settings) checkPlace() error {
	if s.Place == "" {
		return fmt.Errorf("it has no place: write %s=%s", s.Kind.Name, s.Kind.Place)
	}
	if hasPassword(s.Place) {
		return fmt.Errorf("an address with a password would be in the list of processes and in the shell's history: leave it out, and use password_file=FILE or password_env=VARIABLE")
	}
	return nil
}

// hasPassword also finds one with characters that an address writes as %23, say: the address is none then, or ends before them.
func hasPassword(place string) bool {
	u, err := url.Parse(place)
	if err != nil || strings.Contains(u.Fragment, "@") {
		_, rest, _ := strings.Cut(place, "://")
		end := strings.LastIndexByte(rest, '@')
		return end > 0 && strings.Contains(rest[:end], ":")
	}
	if u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}

// Placed begins the settings of a place that a file names, where options stand apart: Give adds them. It returns
// settings with an error, too, so that Give finds the faults of options.
func Placed(k *Kind, place string) (*Settings, error) {
	s := &Settings{Kind: k, Place: place, given: map[string]string{}, secret: map[string]Secret{}}
	switch {
	case place == "":
		return s, fmt.Errorf("it is empty: write %s, as in %s", k.Place, k.Example)
	case len(place) > placeMax:
		return s, fmt.Errorf("it has %d bytes: give at most %d", len(place), placeMax)
	case hasPassword(place):
		return s, errors.New("it has a password, which each reader of the file would see: leave it out, and name the password's file with password_file")
	}
	return s, nil
}

// Give sets an option of Placed settings. Errors begin with its name.
func (s *Settings) Give(name, value string) error {
	options := append(slices.Clone(s.Kind.Options), CommonOptions()...)
	names := namesOf(options)
	switch {
	case slices.Contains(bare(options), name):
		return fmt.Errorf("%s: a configuration has no secrets: name its file with %s_file, or its variable with %s_env", name, name, name)
	case !slices.Contains(names, name):
		return fmt.Errorf("%s is no option of kind %s%s: use %s", name, s.Kind.Name, setting.DidYouMean(name, names), strings.Join(names, ", "))
	case len(value) > placeMax:
		return fmt.Errorf("%s has %d bytes: give at most %d", name, len(value), placeMax)
	}
	return s.set(options, name, value)
}

// Given are the options that were given, by name, as `config show` prints them: secrets by where they are.
func (s *Settings) Given() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		all = append(all, name+"="+s.given[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.secret)) {
		all = append(all, s.secret[name].String())
	}
	return all
}

// namesOf are the names that a user may write.
func namesOf(options []Option) (names []string) {
	for _, o := range options {
		if o.Type == OptionSecret {
			names = append(names, o.Name+"_file", o.Name+"_env")
			continue
		}
		names = append(names, o.Name)
	}
	return names
}

// bare are the names of secrets as no user may write them.
func bare(options []Option) (names []string) {
	for _, o := range options {
		if o.Type == OptionSecret {
			names = append(names, o.Name)
		}
	}
	return names
}

func (s *Settings) set(options []Option, name, value string) error {
	for _, o := range options {
		if o.Type == OptionSecret && (name == o.Name+"_file" || name == o.Name+"_env") {
			if value == "" || s.secret[o.Name].Given() {
				return fmt.Errorf("%s: give one of %s_file=FILE and %s_env=VARIABLE, once", name, o.Name, o.Name)
			}
			at := Secret{name: o.Name}
			if name == o.Name+"_file" {
				at.file = value
			} else {
				at.env = value
			}
			s.secret[o.Name] = at
			return nil
		}
		if o.Name != name {
			continue
		}
		if _, twice := s.given[name]; twice {
			return fmt.Errorf("%s is given twice: leave one out", name)
		}
		s.given[name] = value
		return o.check(value)
	}
	return nil
}

// check reports a value that the option cannot have.
func (o *Option) check(value string) error {
	wrong := func(remedy string) error { return fmt.Errorf("%s = %q: %s", o.Name, value, remedy) }
	switch o.Type {
	case OptionBool:
		if value != "true" && value != "false" {
			return wrong("write true or false")
		}
	case OptionNumber:
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < o.Min || n > o.Max {
			return wrong(fmt.Sprintf("write a whole number from %d to %d", o.Min, o.Max))
		}
	case OptionSpan:
		if d, err := time.ParseDuration(value); err != nil || int64(d) < o.Min || int64(d) > o.Max {
			return wrong(fmt.Sprintf("write a time from %v to %v, as in 10s", time.Duration(o.Min), time.Duration(o.Max)))
		}
	case OptionChoice:
		if !slices.Contains(o.Choices, value) {
			return wrong("use " + strings.Join(o.Choices, ", "))
		}
	case OptionText, OptionSecret:
	}
	return nil
}

// Text is the value of an option, its default if it is not given. It panics if the kind has no such option.
func (s *Settings) Text(name string) string {
	if v, given := s.given[name]; given {
		return v
	}
	for _, o := range append(slices.Clone(s.Kind.Options), CommonOptions()...) {
		if o.Name == name && o.Type != OptionSecret {
			return o.Default
		}
	}
	panic(fmt.Sprintf("kind %s has no option %q", s.Kind.Name, name))
}

// Bool is the value of an option of type bool.
func (s *Settings) Bool(name string) bool { return s.Text(name) == "true" }

// Number is the value of an option of type number; 0 if it has none.
func (s *Settings) Number(name string) int64 {
	n, _ := strconv.ParseInt(s.Text(name), 10, 64) // check has parsed it
	return n
}

// Span is the value of an option of type span, or of a choice of times; 0 if it has none.
func (s *Settings) Span(name string) time.Duration {
	d, _ := time.ParseDuration(s.Text(name)) // check has parsed it
	return d
}

// Secret is the source of an option of type secret.
func (s *Settings) Secret(name string) Secret {
	if v, given := s.secret[name]; given {
		return v
	}
	return Secret{name: name}
}

// Window is the length of the windows of this place's rows.
func (s *Settings) Window() time.Duration {
	return max(s.Span("window"), s.Kind.Limits.Filled().Window)
}

// Required says that the command does not run without this place.
func (s *Settings) Required() bool { return s.Bool("required") }
