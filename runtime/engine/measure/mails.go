package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Mails counts what a step hands over to mail servers.
type Mails struct{ accepted, refused uint64 }

// Mails returns what counts the account's mails.
func (a *Account) Mails() *Mails {
	if a.mails == nil {
		a.mails = new(Mails)
	}
	return a.mails
}

// Recipients counts those of a message that the server took, and those that it refused.
func (t *Mails) Recipients(accepted, refused uint64) {
	t.accepted += accepted
	t.refused += refused
}

// wire appends the measures that happened.
func (t *Mails) wire(out message.Measures) message.Measures {
	if t == nil {
		return out
	}
	for _, m := range []message.Measure{
		{Name: plan.MeasureRecipientsAccepted, Count: t.accepted}, {Name: plan.MeasureRecipientsRefused, Count: t.refused},
	} {
		if m.Kind = message.MeasureCount; m.Count > 0 {
			out.List = append(out.List, m)
		}
	}
	return out
}
