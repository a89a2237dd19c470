package message

//go:generate go run ../../cmd/catalogue -dir .
