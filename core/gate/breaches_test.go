package gate

import (
	"strings"

	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/plan/plantest"
)

// breach breaks one bound of an otherwise valid submission and names the key of the expected
// fault. The key is empty if the submission has no place for the breach.
type breach struct {
	name string
	code message.Code
	set  func(t *rapid.T, s *message.JobSubmit, w *message.WorkflowPlan) string
}

// breaks lists at least one breach for each bound outside the plan.
func breaks() []breach {
	type submit = message.JobSubmit
	type workflow = message.WorkflowPlan
	all := []breach{
		{name: "files", code: message.CodeTooLarge, set: func(_ *rapid.T, s *submit, _ *workflow) string {
			s.Program.Files = []message.File{{Name: s.Program.Main, Data: make([]byte, 1+Default().ProgramBytesMax)}}
			return "bytes of program.files"
		}},
		{name: "size", code: message.CodeTooLarge, set: func(_ *rapid.T, s *submit, _ *workflow) string {
			s.Program.Params = []message.Param{{Name: "p", Value: strings.Repeat("x", message.FrameMax-frameSlack)}}
			return "bytes of the submission"
		}},
		{name: "program", set: func(_ *rapid.T, s *submit, _ *workflow) string {
			s.Program.Main = "gone"
			return "program.main"
		}},
		{name: "key", set: func(t *rapid.T, s *submit, _ *workflow) string {
			s.Key = plantest.BadText(t, keyMax)
			return "key"
		}},
		{name: "name", set: func(t *rapid.T, s *submit, _ *workflow) string {
			s.Name = rapid.SampledFrom([]string{strings.Repeat("x", nameMax+1), "\xff"}).Draw(t, "bad")
			return "name"
		}},
		{name: "datacenters", set: func(_ *rapid.T, s *submit, _ *workflow) string {
			s.Datacenters = make([]string, Default().DatacentersMax+1)
			return "datacenters"
		}},
		{name: "place", set: func(t *rapid.T, s *submit, _ *workflow) string {
			s.Datacenters = []string{"a", rapid.SampledFrom([]string{"", "a b", "ä", "a/b", strings.Repeat("x", places.NameMax+1)}).Draw(t, "bad")}
			return "datacenters"
		}},
		{name: "place twice", set: func(_ *rapid.T, s *submit, _ *workflow) string {
			s.Datacenters = []string{"b", "a", "b"}
			return "datacenters"
		}},
		{name: "run timeout", set: func(t *rapid.T, s *submit, _ *workflow) string {
			s.RunTimeout = plantest.Beyond(t, Default().RunTimeoutMax)
			return "run_timeout"
		}},
	}
	for i := range all {
		if all[i].code == message.CodeNone {
			all[i].code = message.CodeBadPlan
		}
	}
	return all
}
