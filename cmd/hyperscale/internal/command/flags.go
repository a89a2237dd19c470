package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/core/setting"
)

// choice is a flag with a closed set of values.
type choice struct {
	value   *string
	choices []string
}

func (c choice) String() string { return *c.value }
func (c choice) Type() string   { return strings.Join(c.choices, "|") }
func (c choice) Set(s string) error {
	for _, known := range c.choices {
		if s == known {
			*c.value = s
			return nil
		}
	}
	return fmt.Errorf("choose one of %s%s", strings.Join(c.choices, ", "), DidYouMean(s, c.choices))
}

// AddChoice adds a flag that takes one of choices.
func AddChoice(flags *pflag.FlagSet, p *string, name, value, help string, choices ...string) {
	*p = value
	flags.Var(choice{p, choices}, name, help)
}

// Span is a duration of at least a bound.
type Span struct {
	value *time.Duration
	least time.Duration
}

// NewSpan is a flag for p, whose value is the default.
func NewSpan(p *time.Duration, least time.Duration) Span { return Span{p, least} }

// String implements pflag.Value.
func (d Span) String() string {
	if *d.value == 0 {
		return ""
	}
	return d.value.String()
}

// Type implements pflag.Value.
func (Span) Type() string { return "duration" }

// Set implements pflag.Value.
func (d Span) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("write a number with a unit, like 250ms, 10s or 1m30s")
	}
	if v < d.least {
		return fmt.Errorf("it must be at least %v", d.least)
	}
	*d.value = v
	return nil
}

// AddSpan adds a flag for a duration of at least least.
func AddSpan(flags *pflag.FlagSet, p *time.Duration, name string, value, least time.Duration, help string) {
	*p = value
	flags.Var(Span{p, least}, name, help)
}

// count is a whole number within bounds.
type count struct {
	value       *uint64
	least, most uint64
}

func (c count) String() string {
	if *c.value == 0 {
		return ""
	}
	return strconv.FormatUint(*c.value, 10)
}
func (count) Type() string { return "N" }
func (c count) Set(s string) error {
	v, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil || v < c.least || v > c.most {
		return fmt.Errorf("write a whole number from %d to %d", c.least, c.most)
	}
	*c.value = v
	return nil
}

// AddCount adds a flag for a whole number within bounds.
func AddCount(flags *pflag.FlagSet, p *uint64, name string, value, least, most uint64, help string) {
	*p = value
	flags.Var(count{p, least, most}, name, help)
}

// settingFlag is a flag for one setting, under another name.
type settingFlag struct{ s setting.Setting }

func (f settingFlag) String() string {
	if f.s.Value == nil {
		return ""
	}
	return f.s.String()
}
func (settingFlag) Type() string { return "size" }
func (f settingFlag) Set(text string) error {
	return setting.Set([]setting.Setting{f.s}, f.s.Key, text)
}

// AddSetting adds a flag for one setting, under another name.
func AddSetting(flags *pflag.FlagSet, s setting.Setting, name, help string) {
	flags.Var(settingFlag{s}, name, help)
}
