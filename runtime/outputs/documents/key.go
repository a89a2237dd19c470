package documents

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/outputs"
)

// Name names a row among those of its job. No two rows that differ in a part of it have the same name, since no part has a
// slash.
func Name(r *outputs.Row) string {
	parts := []string{
		r.Kind.String(), url.PathEscape(r.Datacenter), url.PathEscape(r.Workflow), url.PathEscape(r.Step), outputs.StepKindName(r.StepKind),
		strconv.FormatInt(r.From.Milliseconds(), 10), strconv.FormatInt(r.To.Milliseconds(), 10),
	}
	switch {
	case r.Kind == outputs.RowRun || r.Kind == outputs.RowResult || r.Kind == outputs.RowCheck:
		parts = parts[:5] // the end of a job is no part of its key
	case r.Threshold != nil:
		parts = append(parts[:5], url.PathEscape(r.Threshold.Expression))
	case r.Event != nil:
		parts = append(parts[:5], strconv.FormatUint(r.Event.Sequence, 10))
	}
	return strings.Join(parts, "/")
}

// flat are the fields of a row's object of JSON that have one value, as texts in the order of their names.
func flat(object []byte) (pairs []pair, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw := all[name]
		switch raw[0] {
		case '{', '[':
			continue
		case '"':
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, err
			}
			pairs = append(pairs, pair{name, text})
		default:
			pairs = append(pairs, pair{name, string(raw)})
		}
	}
	return pairs, nil
}

// pair is a field of a document.
type pair struct{ name, value string }
