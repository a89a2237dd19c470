package picture

import (
	"fmt"
	"reflect"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// wrong says that an event reports something that went wrong.
func wrong(e node.Event) bool {
	switch e.(type) {
	case event.FenceRefused, event.ShardLost, event.BudgetSpent, event.ExecutorGone, event.PeerLost, event.StoreFailed, event.Shed:
		return true
	}
	return false
}

// text describes an entry in a few words: its name, then its content.
func text(e *entry) (name, more string) {
	switch e.sort {
	case sortSend, sortCopy:
		return message.NameOf(e.message), fields(e.message)
	case sortTimer:
		return "timer " + timerName(e.timer), ""
	case sortEvent, sortBad:
		if e.event != nil {
			return e.event.EventName(), fields(e.event)
		}
		return "disk", e.reason
	case sortStart:
		return "starts", e.reason
	case sortEnd:
		return "ends", e.reason
	case sortStop:
		return "is asked to end", ""
	case sortUser:
		if e.reason != "" {
			return "tells its user " + message.NameOf(e.message), fields(e.message)
		}
		return "its user asks " + message.NameOf(e.message), fields(e.message)
	case sortExec:
		if e.message == nil {
			return "an executor is gone", e.reason
		}
		return "executor " + message.NameOf(e.message), fields(e.message)
	case sortBreak:
		return "a stream breaks", e.reason
	}
	return "is paused", ""
}

// Bounds of the output of fields.
const (
	fieldsMax = 12
	valueMax  = 60
)

// fields lists the content of a struct: its plain values, and the lengths of everything else.
// It leaves zero values out.
func fields(of any) string {
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct {
		return ""
	}
	var parts []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || v.Field(i).IsZero() || len(parts) == fieldsMax {
			continue
		}
		if value := plain(v.Field(i)); value != "" {
			parts = append(parts, f.Name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

func plain(v reflect.Value) string {
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return clip(s.String(), valueMax)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return fmt.Sprintf("(%d)", v.Len())
	case reflect.Struct:
		if state := v.FieldByName("State"); state.IsValid() {
			return plain(state)
		}
		return ""
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return clip(fmt.Sprint(v.Interface()), valueMax)
	}
	return ""
}

// clip shortens a text to a number of bytes.
func clip(s string, bound int) string {
	if len(s) <= bound {
		return s
	}
	return strings.ToValidUTF8(s[:bound], "") + "…"
}
