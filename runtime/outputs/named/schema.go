package named

import (
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/kinds"
)

// Schema is the JSON Schema of a section: editors complete the keys of each kind, and mark those of another.
func Schema() map[string]any {
	scalar := []string{"string", "number", "boolean"}
	var names []string
	var each []any
	for _, k := range kinds.All() {
		names = append(names, k.Name)
		properties := map[string]any{"kind": true, "default": true, "tags": true, "address": map[string]any{"description": k.About + ": " + k.Place + ", as in " + k.Example}}
		for _, o := range append(k.Options, outputs.CommonOptions()...) {
			if o.Type == outputs.OptionSecret {
				properties[o.Name+"_file"] = map[string]any{"type": "string", "description": o.Help + ": the file that has it; it is read again when it changes."}
				properties[o.Name+"_env"] = map[string]any{"type": "string", "description": o.Help + ": the variable that has it."}
				continue
			}
			one := map[string]any{"type": scalar, "description": o.Help + "."}
			switch {
			case o.Name == "required":
				one = map[string]any{"type": "boolean", "default": false, "description": "true: no job with this sink begins while it takes no rows."}
			case o.Type == outputs.OptionChoice:
				one["enum"], one["default"] = o.Choices, o.Default
			case o.Type == outputs.OptionBool:
				one = map[string]any{"type": "boolean", "default": o.Default == "true", "description": o.Help + "."}
			case o.Default != "":
				one["default"] = o.Default
			}
			properties[o.Name] = one
		}
		each = append(each, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": k.Name}}},
			"then": map[string]any{"properties": properties, "additionalProperties": false},
		})
	}
	return map[string]any{
		"type": "object", "maxProperties": SinksMax, "description": "Sinks that jobs may name, by name: docs/outputs.md, A cluster delivers.",
		"propertyNames": map[string]any{"pattern": "^[a-z0-9_-]{1,64}$", "not": map[string]any{"const": None}},
		"additionalProperties": map[string]any{
			"type": "object", "required": []string{"kind", "address"}, "allOf": each,
			"properties": map[string]any{
				"kind": map[string]any{"enum": names, "description": "`hyperscale outputs list` says what each is."}, "address": map[string]any{"type": "string", "minLength": 1},
				"default": map[string]any{"type": "boolean", "default": false, "description": "true: jobs that name no sink have it."},
				"tags":    map[string]any{"type": "object", "maxProperties": TagsMax, "additionalProperties": map[string]any{"type": scalar}, "description": "Labels of each row."},
			},
		},
	}
}
