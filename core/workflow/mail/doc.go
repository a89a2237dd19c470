// Package mail has the words of mail servers: smtp.client, smtp.send, and what functions send by vu.smtp.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; RFC 5321.
//
// Invariants:
//
//	MAIL-1 A message that no server could take is found when the file loads, but for what values make of it.
//	MAIL-2 No client sends a password in clear.
//
// Example:
//
//	all["smtp"] = mail.SMTP("smtp", nil, describe)
//
// Read arguments.go, client.go, smtp.go, attachment.go.
package mail
