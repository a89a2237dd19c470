// Package sign signs requests as services want it: AWS by its Signature Version 4, Google and Snowflake by tokens of RS256,
// Azure Cosmos DB and webhooks by HMAC.
//
// It reads no secret and sends nothing: runtime/outputs reads secrets, runtime/outputs/push sends.
//
// Source: AWS, "Signature Version 4 signing process", and its published test suite (testdata/aws4.txt); RFC 7515 and 7518;
// Microsoft, "Access control in the Azure Cosmos DB SQL API", and its example.
//
// Invariants:
//
//	OUTSIGN-1 No error has a secret, nor a part of one.
//	OUTSIGN-2 Signing is a function of the request, the credentials and the time.
//
// Example:
//
//	c := sign.AWS{Key: key, Secret: secret, Region: "eu-west-1", Service: "s3"}
//	c.Sign(request, body, time.Now())
//
// Read aws.go, jwt.go, cosmos.go, hmac.go.
package sign
