package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/runtime/compare"
	"hyperscale/runtime/export"
	"hyperscale/runtime/page"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

// comparedMax bounds how many files are read into memory at once.
const comparedMax = 32

// percentage is a flag of parts per million, written in percent.
type percentage struct {
	value       *uint32
	least, most uint32 // parts per million
}

func (p percentage) String() string {
	return strconv.FormatFloat(float64(*p.value)/10_000, 'f', -1, 64) + "%"
}
func (percentage) Type() string { return "P%" }
func (p percentage) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(v*10_000 >= float64(p.least) && v*10_000 <= float64(p.most)) {
		return fmt.Errorf("write a percentage from %v%% to %v%%", float64(p.least)/10_000, float64(p.most)/10_000)
	}
	*p.value = uint32(v*10_000 + 0.5)
	return nil
}

// quantiles is a flag of percentiles: 50,99,99.9.
type quantiles struct{ value *[]uint32 }

// quantilesMost bounds them: each takes its share of alpha.
const quantilesMost = 10

func (q quantiles) String() string {
	var all []string
	for _, ppm := range *q.value {
		all = append(all, strings.TrimPrefix(compare.FigureName(ppm), "p"))
	}
	return strings.Join(all, ",")
}
func (quantiles) Type() string { return "P,P..." }
func (q quantiles) Set(s string) error {
	var all []uint32
	for _, text := range strings.Split(s, ",") {
		v, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(text), "p"), 64)
		if err != nil || !(v >= 1 && v <= 99.999) || len(all) == quantilesMost {
			return fmt.Errorf("write up to %d percentiles from 1 to 99.999, as in 50,99,99.9", quantilesMost)
		}
		all = append(all, uint32(v*10_000+0.5))
	}
	*q.value = all
	return nil
}

func newCompareCommand() *cobra.Command {
	o := compare.Default()
	var alpha float64
	var asJSON bool
	var outs []string
	cmd := &cobra.Command{
		Use:   "compare BASELINE.json FILE.json...",
		Short: "say what got slower between two runs, and whether it is noise",
		Long: `Compare results that --out json=FILE wrote. The first file is the baseline; each
other file is compared with it, step by step. A figure is worse when it moved by
the tolerance or more, and by more than chance can do. docs/compare.md says how
that is known and how often it is wrong. --out html=FILE writes one page with
both curves.

Exit codes: 0 no regression, 99 a regression, 2 bad usage or a bad file.`,
		Example: "  hyperscale run test.star --out json=before.json\n" +
			"  hyperscale run test.star --out json=after.json\n" +
			"  hyperscale compare before.json after.json --out html=compared.html",
		Args: compared,
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			if !(alpha >= 1e-6 && alpha <= 0.5) {
				return command.Usage("--alpha %v must be from 0.000001 to 0.5: 0.05 is one false alarm in twenty", alpha)
			}
			o.AlphaPPM = uint32(alpha*1_000_000 + 0.5)
			places, err := comparisonOutputs(outs)
			if err != nil {
				return err
			}
			c, err := compareFiles(args, o)
			if err != nil {
				return command.AsUsage(err)
			}
			if err := printComparison(cmd.OutOrStdout(), c, asJSON); err != nil {
				return fmt.Errorf("print the comparison: %w", err)
			}
			if err := writeComparison(c, places); err != nil {
				return err
			}
			if c.Verdict == compare.Regression {
				return command.Exit(command.ExitThreshold, nil)
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.Var(percentage{&o.TolerancePPM, 1, 1_000_000}, "tolerance", "change below which nothing is called worse or better")
	flags.Float64Var(&alpha, "alpha", float64(o.AlphaPPM)/1_000_000, "chance of a false alarm, over all figures of two files")
	flags.Var(quantiles{&o.QuantilesPPM}, "quantiles", "percentiles of latency to compare")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.StringArrayVar(&outs, "out", nil, "write the comparison to a file, too: `KIND=FILE`, html=FILE or json=FILE (repeatable)")
	return cmd
}

func compared(cmd *cobra.Command, args []string) error {
	switch stdin := 0; {
	case len(args) < 2:
		return command.Exactly("BASELINE.json", "FILE.json")(cmd, args)
	case len(args) > comparedMax:
		return command.Usage("%d files: compare at most %d at once", len(args), comparedMax)
	default:
		for _, arg := range args {
			if arg == "-" {
				stdin++
			}
		}
		if stdin > 1 {
			return command.Usage("- stands for stdin, which can be read once: give the other as a file")
		}
	}
	return nil
}

func compareFiles(names []string, o compare.Options) (*compare.Comparison, error) {
	var files []compare.File
	for _, name := range names {
		r, err := readFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, compare.File{Name: name, Result: r})
	}
	c, err := compare.Compare(files[0], files[1:], o)
	if errors.Is(err, compare.ErrNothing) {
		err = fmt.Errorf("%w: `%s report FILE` shows what is in each", err, command.Called())
	}
	return c, err
}

func printComparison(w io.Writer, c *compare.Comparison, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(w, ui.Comparison(c, ui.StyleOf(os.Stdout)))
		return err
	}
	b, err := encodeComparison(c)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func encodeComparison(c *compare.Comparison) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(c)
	return b.Bytes(), err
}

// comparisonOutput is a form that --out writes a comparison in, and where.
type comparisonOutput struct {
	kind   string
	place  string
	encode func(*compare.Comparison) ([]byte, error)
}

func (o *comparisonOutput) failed(err error) error {
	return fmt.Errorf("--out %s=%s: %w", o.kind, o.place, err)
}

// comparisonOutputs reads what --out asks for, and finds out whether it can be written.
func comparisonOutputs(outs []string) ([]comparisonOutput, error) {
	kinds := []string{"html", "json"}
	encoders := []func(*compare.Comparison) ([]byte, error){page.Comparison, encodeComparison}
	var all []comparisonOutput
	for _, s := range outs {
		at, place, err := follow.CutOut(s, kinds, "html=FILE or json=FILE")
		if err != nil {
			return nil, err
		}
		if command.IsURL(place) {
			return nil, command.Usage("--out %s: a comparison is written to a file: give its name", export.Discreet(place))
		}
		o := comparisonOutput{kinds[at], place, encoders[at]}
		if err := follow.Writable(place); err != nil {
			return nil, command.AsUsage(o.failed(err))
		}
		all = append(all, o)
	}
	return all, nil
}

func writeComparison(c *compare.Comparison, outs []comparisonOutput) error {
	var faults []error
	for i := range outs {
		b, err := outs[i].encode(c)
		if err == nil {
			err = report.WriteFile(outs[i].place, b)
		}
		if err != nil {
			faults = append(faults, outs[i].failed(err))
		}
	}
	return errors.Join(faults...)
}
