package broker

import (
	"strings"
	"testing"

	"hyperscale/core/workflow/request"
)

// What a topic or a filter may not be is found where it is written, with what to write.
func TestTopics(t *testing.T) {
	for _, tt := range []struct{ topic, asTopic, asFilter string }{
		{"dev/1/t", "", ""},
		{"/", "", ""},
		{"", "is empty", "is empty"},
		{"a\x00", "has a zero", "has a zero"},
		{"a\xff", "is not UTF-8", "is not UTF-8"},
		{strings.Repeat("x", 65536), "is longer", "is longer"},
		{"dev/+/t", "has a wildcard", ""},
		{"dev/#", "has a wildcard", ""},
		{"#", "has a wildcard", ""},
		{"dev/#/t", "has a wildcard", "has # before its end"},
		{"dev#", "has a wildcard", "has # before its end, or within"},
		{"dev/a+", "has a wildcard", "has + within a word"},
		{"$share/g/dev/+/t", "has a wildcard", ""},
		{"$share/g", "", "is shared, and has no group and topic"},
		{"$share//t", "", "is shared, and has no group and topic"},
		{"$share/g/a#", "has a wildcard", "has # before its end"},
	} {
		if got := checkTopic("f", tt.topic); (got == nil) != (tt.asTopic == "") || got != nil && !strings.Contains(got.Error(), tt.asTopic) {
			t.Errorf("topic %.20q: got %v, want %q", tt.topic, got, tt.asTopic)
		}
		got := checkFilter("f", tt.topic)
		if (got == nil) != (tt.asFilter == "") || got != nil && !strings.Contains(got.Error(), tt.asFilter) {
			t.Errorf("filter %.20q: got %v, want %q", tt.topic, got, tt.asFilter)
		}
	}
}

// A client identifier that several connections would have is rejected, and one that none shares is not.
func TestClientIdentifiers(t *testing.T) {
	of := func(id string, verb request.MQTTVerb) *request.MQTT {
		return &request.MQTT{Target: &request.Target{Scheme: "mqtt", Host: "h", Port: 1883}, ClientID: id, Verb: verb}
	}
	for _, tt := range []struct {
		id   string
		vus  uint64
		want string
	}{{"", 9, ""}, {"one", 1, ""}, {"one", 2, `write client_id = "one-${vu}"`}, {"dev-${vu}", 9, ""}} {
		got := CheckClient("w", "s", tt.vus, of(tt.id, request.MQTTPublish))
		if (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%q of %d users: %v", tt.id, tt.vus, got)
		}
	}
	all := Clients{}
	for _, tt := range []struct {
		workflow, id string
		verb         request.MQTTVerb
		fine         bool
	}{
		{"v", "dev-${vu}", request.MQTTPublish, true}, {"v", "dev-${vu}", request.MQTTPublish, true}, {"v", "dev-${vu}", request.MQTTConnect, false},
		{"w", "dev-${vu}", request.MQTTPublish, false}, {"w", "other-${vu}", request.MQTTConnect, true}, {"w", "", request.MQTTConnect, true}, {"v", "", request.MQTTPublish, true},
	} {
		if got := all.Claim(tt.workflow, "s", of(tt.id, tt.verb)); (got == nil) != tt.fine {
			t.Errorf("%s as %q: %v", tt.workflow, tt.id, got)
		}
	}
}
