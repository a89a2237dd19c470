package api

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
)

// object is a JSON object of the description.
type object = map[string]any

// openapi answers the description of the routes.
func openapi(c *call) error { return c.answer(http.StatusOK, Describe()) }

// Describe makes the OpenAPI description of the table of routes, and of the structs that it answers with.
func Describe() map[string]any {
	d := describer{schemas: object{}}
	paths := object{}
	all := routes()
	for i := range all {
		r := &all[i]
		path, _ := paths[r.Path].(object)
		if path == nil {
			path = object{}
			paths[r.Path] = path
		}
		path[strings.ToLower(r.Method)] = d.operation(r)
	}
	for _, v := range []any{StatusEvent{}, WindowEvent{}, JobEvent{}, AlertEvent{}, ResultEvent{}} {
		d.schema(reflect.TypeOf(v))
	}
	return object{
		"openapi": "3.0.3",
		"info":    object{"title": "Hyperscale", "version": "1", "description": "Jobs, their events and results, and the cluster. docs/api.md explains it."},
		"paths":   paths,
		"components": object{
			"schemas": d.schemas,
			"securitySchemes": object{
				"token":  object{"type": "http", "scheme": "bearer"},
				"cookie": object{"type": "apiKey", "in": "cookie", "name": cookie},
			},
		},
		"security": []any{object{"token": []any{}}, object{"cookie": []any{}}},
	}
}

// describer collects the structs that answers name.
type describer struct{ schemas object }

func (d *describer) operation(r *route) object {
	var parameters []any
	for name := range strings.SplitSeq(r.Path, "/") {
		if name, is := strings.CutPrefix(name, "{"); is {
			parameters = append(parameters, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, from := range []struct {
		in   string
		list []param
	}{{"query", r.Query}, {"header", r.Headers}} {
		for _, p := range from.list {
			kind := "string"
			if p.Number {
				kind = "integer"
			}
			parameters = append(parameters, object{"name": p.Name, "in": from.in, "description": p.What, "schema": object{"type": kind}})
		}
	}
	answers := object{"default": object{"description": "An error.", "content": object{"application/json": object{"schema": d.schema(reflect.TypeOf(Failure{}))}}}}
	for _, a := range r.Answers {
		one := object{"description": a.What}
		if a.Body != nil {
			content := object{"application/json": object{"schema": d.schema(reflect.TypeOf(a.Body))}}
			if a.Page {
				content["text/html"] = object{"schema": object{"type": "string"}}
			}
			one["content"] = content
		} else if a.Type != "" {
			one["content"] = object{a.Type: object{"schema": object{"type": "string"}}}
		}
		answers[strconv.Itoa(a.Status)] = one
	}
	o := object{"summary": r.Summary, "operationId": operationID(r), "responses": answers, "description": "Role: " + r.Right.String() + ", or one with more rights."}
	if r.open {
		o["security"], o["description"] = []any{}, "Needs no token."
	}
	if len(parameters) > 0 {
		o["parameters"] = parameters
	}
	if r.other == frames.Type {
		o["requestBody"] = object{"required": true, "content": object{r.other: object{"schema": object{"type": "string", "format": "binary"}}}}
	}
	if r.Body != nil {
		content := object{"application/json": object{"schema": d.schema(reflect.TypeOf(r.Body))}}
		if r.other == multipartType {
			content[r.other] = object{"schema": object{"type": "object", "properties": object{
				options: d.schema(reflect.TypeOf(r.Body)), "file": object{"type": "array", "items": object{"type": "string", "format": "binary"}},
			}}}
		}
		o["requestBody"] = object{"required": true, "content": content}
	}
	return o
}

// operationID names a route: get_jobs_id_events.
func operationID(r *route) string {
	return strings.ToLower(r.Method) + strings.NewReplacer("/v1/", "_", "/", "_", "{", "", "}", "", ".", "_").Replace(r.Path)
}

// schema describes what encoding/json makes of a type. A struct is named once.
func (d *describer) schema(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		s := d.schema(t.Elem())
		if _, named := s["$ref"]; named {
			return object{"allOf": []any{s}, "nullable": true}
		}
		s["nullable"] = true
		return s
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return object{"type": "string", "format": "date-time"}
		}
		return d.named(t)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Uint32, reflect.Uint64, reflect.Uint8, reflect.Uint16:
		return object{"type": "integer", "minimum": 0}
	}
	node.Bug("api: no schema for %v", t)
	return nil
}

// named describes a struct among the components.
func (d *describer) named(t reflect.Type) object {
	name := t.Name()
	if pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]; pkg != "api" && pkg != "view" {
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name // report.Result is ReportResult
	}
	ref := object{"$ref": "#/components/schemas/" + name}
	if _, has := d.schemas[name]; has {
		return ref
	}
	properties, required := object{}, []any{}
	d.schemas[name] = object{} // a struct may hold itself
	d.fields(t, properties, &required)
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	d.schemas[name] = s
	return ref
}

// fields adds the fields that encoding/json writes; those of embedded structs are the struct's own.
func (d *describer) fields(t reflect.Type, properties object, required *[]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		if f.Anonymous && tag == "" {
			if f.Type.Kind() == reflect.Pointer { // nil leaves its fields out
				d.fields(f.Type.Elem(), properties, new([]any))
				continue
			}
			d.fields(f.Type, properties, required)
			continue
		}
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			node.Bug("api: %v.%s has no name for JSON", t, f.Name)
		}
		properties[name] = d.schema(f.Type)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}
