package config

import (
	"reflect"
	"strings"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/setting"
)

// Schema is a JSON Schema (draft 2020-12) of a role's file: editors complete its keys and mark its mistakes.
// Settings are those that `set` of the role may name; sinks is the schema of a gate's section of sinks.
func Schema(role node.Role, settings []setting.Setting, sinks map[string]any) map[string]any {
	properties := map[string]any{}
	for _, k := range Keys() {
		if !k.For(role) {
			continue
		}
		one := schemaOf(k.field().Type)
		one["description"] = k.describe()
		if d := k.Default(role); d != "" {
			one["default"] = d
		}
		properties[k.Name] = one
	}
	set := map[string]any{}
	for _, s := range settings {
		text := map[string]any{"type": []string{"string", "number"}, "description": sentence(s.Is, "Range: "+s.Range(), "Higher: "+s.Raise, "Lower: "+s.Lower), "default": s.String()}
		set[s.Key] = text
	}
	properties["set"] = map[string]any{"type": "object", "properties": set, "additionalProperties": false, "description": "Settings of docs/settings.md, by name."}
	if role == node.RoleGate {
		properties[outputsKey] = sinks
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "hyperscale " + role.String(),
		"type": "object", "properties": properties, "additionalProperties": false,
	}
}

// describe is what an editor shows of a key.
func (k Key) describe() string {
	text := sentence(strings.ReplaceAll(k.Help, "`", ""))
	for _, more := range []struct{ name, text string }{{"Range", k.Range}, {"Higher, or set", k.Raise}, {"Lower, or not set", k.Lower}} {
		if more.text != "" {
			text += " " + sentence(more.name+": "+more.text)
		}
	}
	return text
}

func sentence(parts ...string) string { return strings.Join(parts, ". ") + "." }

func schemaOf(t reflect.Type) map[string]any {
	text := map[string]any{"type": "string"}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		text["pattern"] = durationPattern
		return text
	case t.Kind() == reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Slice:
		return map[string]any{"oneOf": []any{map[string]any{"type": "array", "items": text}, text}} // also as a flag has it: a, b
	}
	return map[string]any{"type": []string{"string", "number", "boolean"}} // YAML reads an unquoted 7 as a number
}

// durationPattern is what time.ParseDuration reads.
const durationPattern = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$`
