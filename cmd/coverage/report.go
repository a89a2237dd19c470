package main

import (
	"fmt"
	"slices"
	"strings"
)

// bugReason explains a block that reports a broken assumption.
const bugReason = "it reports a broken assumption (node.Bug): a run that gets there is a failure"

// report is what --json writes. Fields may be added, never renamed.
type report struct {
	Blocks      int             `json:"blocks"`
	Worlds      int             `json:"worlds"`     // that some world runs
	Properties  int             `json:"properties"` // that only a property runs
	Unreached   int             `json:"unreached"`  // that neither runs
	Unexplained int             `json:"unexplained"`
	Packages    []packageReport `json:"packages"`
	Missed      []missed        `json:"missed"` // what no world runs, function by function
	Stale       []string        `json:"stale,omitempty"`
}

// packageReport is a row of the table.
type packageReport struct {
	Package     string `json:"package"`
	Blocks      int    `json:"blocks"`
	Worlds      int    `json:"worlds"`
	Properties  int    `json:"properties"`
	Unreached   int    `json:"unreached"`
	Unexplained int    `json:"unexplained"`
}

// missed are the blocks of one function that no world runs.
type missed struct {
	Function  string   `json:"function"`
	Property  []string `json:"property,omitempty"`  // places that a property runs
	Unreached []string `json:"unreached,omitempty"` // places that neither runs
	Reason    string   `json:"reason,omitempty"`    // of the unreached; empty: unexplained
	Bugs      int      `json:"bugs,omitempty"`      // of them: they report a broken assumption
}

// judge counts blocks and compares those that nothing runs with the exceptions.
func judge(list []*block, exceptions []exception) report {
	r := report{}
	rows := map[string]*packageReport{}
	functions := map[string]*missed{}
	var order []string
	for _, b := range list {
		row := rows[b.pkg()]
		if row == nil {
			row = &packageReport{Package: b.pkg()}
			rows[b.pkg()] = row
		}
		row.Blocks++
		if b.worlds {
			row.Worlds++
			continue
		}
		m := functions[b.name()]
		if m == nil {
			m = &missed{Function: b.name()}
			functions[b.name()] = m
			order = append(order, b.name())
		}
		if b.property {
			row.Properties++
			m.Property = append(m.Property, b.place())
			continue
		}
		row.Unreached++
		m.Unreached = append(m.Unreached, b.place())
		if b.bug {
			m.Bugs++
		}
	}
	for _, name := range order {
		r.explain(functions[name], exceptions, rows[packageOf(name)])
		r.Missed = append(r.Missed, *functions[name])
	}
	for _, x := range exceptions {
		if m := functions[x.function]; m == nil || len(m.Unreached)-m.Bugs < x.blocks {
			left := 0
			if m != nil {
				left = len(m.Unreached) - m.Bugs
			}
			r.Stale = append(r.Stale, fmt.Sprintf("%s %d: only %d are left", x.function, x.blocks, left))
		}
	}
	//lint:orderfree it is sorted
	for _, row := range rows {
		r.Packages = append(r.Packages, *row)
		r.Blocks, r.Worlds, r.Properties = r.Blocks+row.Blocks, r.Worlds+row.Worlds, r.Properties+row.Properties
		r.Unreached, r.Unexplained = r.Unreached+row.Unreached, r.Unexplained+row.Unexplained
	}
	slices.SortFunc(r.Packages, func(a, b packageReport) int { return strings.Compare(a.Package, b.Package) })
	return r
}

// packageOf cuts the function off: manager.Machine.onFile is of manager.
func packageOf(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	return name[:slash+dot]
}

// explain gives a function's unreached blocks their reason, all or none.
func (r *report) explain(m *missed, exceptions []exception, row *packageReport) {
	rest := len(m.Unreached) - m.Bugs
	if len(m.Unreached) > 0 && rest == 0 {
		m.Reason = bugReason
		return
	}
	for _, x := range exceptions {
		if x.function == m.Function && x.blocks >= rest {
			m.Reason = x.reason
			return
		}
	}
	row.Unexplained += rest
}

// share is n of all in per cent, with two digits.
func (r *report) share(n int) string {
	return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(max(r.Blocks, 1)))
}

// table is the figures by package.
func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %8s %8s %11s %10s %12s\n", "package", "blocks", "worlds", "properties", "unreached", "unexplained")
	row := func(p packageReport) {
		fmt.Fprintf(&b, "%-16s %8d %8d %11d %10d %12d\n", p.Package, p.Blocks, p.Worlds, p.Properties, p.Unreached, p.Unexplained)
	}
	for _, p := range r.Packages {
		row(p)
	}
	row(packageReport{"total", r.Blocks, r.Worlds, r.Properties, r.Unreached, r.Unexplained})
	fmt.Fprintf(&b, "%d of %d blocks run in no world (%s); of these properties run %d; %d run in neither (%s), %d of them unexplained.\n",
		r.Blocks-r.Worlds, r.Blocks, r.share(r.Blocks-r.Worlds), r.Properties, r.Unreached, r.share(r.Unreached), r.Unexplained)
	return b.String()
}

// list names every block that no world runs.
func (r *report) list() string {
	var b strings.Builder
	b.WriteString("Blocks of core that no world runs. p: a property does. =: neither does, and the reason is known. !: neither does.\n")
	pkg := ""
	for _, m := range r.Missed {
		if of := packageOf(m.Function); of != pkg {
			pkg = of
			fmt.Fprintf(&b, "\n%s\n", pkg)
		}
		fmt.Fprintf(&b, "  %s\n", m.Function)
		if len(m.Property) > 0 {
			fmt.Fprintf(&b, "    p %s\n", strings.Join(m.Property, ", "))
		}
		switch {
		case len(m.Unreached) == 0:
		case m.Reason != "":
			fmt.Fprintf(&b, "    = %s: %s\n", strings.Join(m.Unreached, ", "), m.Reason)
		default:
			fmt.Fprintf(&b, "    ! %s\n", strings.Join(m.Unreached, ", "))
		}
	}
	return b.String()
}
