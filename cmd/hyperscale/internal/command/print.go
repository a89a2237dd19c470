package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"hyperscale/runtime/ui/units"
)

// PrintJSON prints v for people and machines: indented, with no character escaped for HTML.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Counted is a number with its noun: 1 node, 2 nodes.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// PrintRows aligns columns; the first row is the head.
func PrintRows(w io.Writer, rows [][]string) error {
	var text strings.Builder // it refuses nothing
	t := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = units.Clean(row[i])
		}
		if _, err := io.WriteString(t, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Number is an unsigned number in a row of PrintRows.
func Number[T uint32 | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }
