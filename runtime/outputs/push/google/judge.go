package google

import (
	"encoding/json"
	"net/http"
	"slices"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

// busy are reasons of refusals that end by themselves, which older services answer with 403 or 400.
var busy = []string{"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "jobRateLimitExceeded", "backendError", "internalError", "jobBackendError", "jobInternalError", "stopped", "tableUnavailable"}

// reasonOf is the reason of an answer that is an error. Its text for people becomes reason and message.
func reasonOf(a *push.Answer) string {
	var said struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	if a.Status/100 == 2 || json.Unmarshal(a.Body, &said) != nil || said.Error.Message == "" {
		return ""
	}
	reason := ""
	if len(said.Error.Errors) > 0 {
		reason = said.Error.Errors[0].Reason
	}
	a.Body = []byte(reason + ": " + said.Error.Message)
	return reason
}

// judge says what an answer of an API over JSON means.
func judge(b outputs.Batch, a *push.Answer) outputs.Outcome {
	reason := reasonOf(a)
	if a.Status/100 == 4 && slices.Contains(busy, reason) {
		return outputs.Again(a.After(), a.Text())
	}
	out := push.Standard(b, a)
	if a.Status == http.StatusForbidden && reason == "insufficientPermissions" {
		out.Why = a.Text() + ": give the machine's service account the scope cloud-platform, or key_file=FILE"
	}
	return out
}
