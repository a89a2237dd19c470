package push

import (
	"net/http"
	"time"

	"hyperscale/runtime/outputs"
)

// standard is what statuses mean where a service's page says nothing else: 2xx took the batch whole, and every
// other answer took nothing.
func standard(b outputs.Batch, a *answer) outputs.Outcome {
	switch {
	case a.status/100 == 2:
		return outputs.Delivered()
	case a.status/100 == 3:
		return outputs.Rejected(nil, a.text()+": outputs follow no redirect: give the address that it points to")
	}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return outputs.Denied(a.text() + ": correct the credentials, or the rights that they have there")
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return outputs.Rejected(nil, a.text()+": correct the address and its path")
	case http.StatusRequestEntityTooLarge:
		return tooLarge(b, a.text())
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return outputs.Again(a.after(time.Now()), a.text())
	}
	if a.status/100 == 5 {
		return outputs.Again(a.after(time.Now()), a.text())
	}
	return outputs.Rejected(nil, a.text())
}

// alone looks for the row that a service does not take: a batch whose rows it rejects together is halved until the
// row is alone. It is for answers after which a repeated row does no harm.
func alone(b outputs.Batch, out outputs.Outcome) outputs.Outcome {
	if out.Verdict != outputs.VerdictRejected || len(b.Rows) < 2 {
		return out
	}
	return outputs.Smaller(out.Why)
}
