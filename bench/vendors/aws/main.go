// Command aws is a double of S3 for tests. Its signatures are verified by the signer of aws-sdk-go-v2, and before it prints
// its address, the SDK's own S3 client must have written and read an object through it, and have failed with a
// wrong secret. Key AKIDTEST, secret test-secret/with+signs, region eu-west-1. Its second address is a page: GET
// returns all objects as JSON, by path.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"hyperscale/bench/vendors/sigv4"
)

type double struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	code := sigv4.Verify(r, body)
	if code == "" && !strings.HasPrefix(r.URL.Path, "/results/") {
		code = "NoSuchBucket"
	}
	if code != "" {
		status := http.StatusForbidden
		if code == "NoSuchBucket" {
			status = http.StatusNotFound
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>the double says so</Message></Error>", code)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.Method {
	case http.MethodPut:
		d.objects[r.URL.Path] = body
	case http.MethodGet:
		b, ok := d.objects[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(b)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// judge lets the vendor's client pass.
func judge(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := func(secret string) *s3.Client {
		return s3.New(s3.Options{Region: sigv4.Region, BaseEndpoint: aws.String("http://" + address), UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider(sigv4.Key, secret, ""),
			RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired})
	}
	const name = "a b/c+d=ü.txt"
	put := &s3.PutObjectInput{Bucket: aws.String("results"), Key: aws.String(name), Body: bytes.NewReader([]byte("hello"))}
	if _, err := client(sigv4.Secret).PutObject(ctx, put); err != nil {
		return fmt.Errorf("the SDK's client: %w", err)
	}
	got, err := client(sigv4.Secret).GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("results"), Key: aws.String(name)})
	if err != nil {
		return fmt.Errorf("the SDK's client: %w", err)
	}
	if b, err := io.ReadAll(got.Body); err != nil || string(b) != "hello" {
		return fmt.Errorf("the SDK's client read %q, %v", b, err)
	}
	put.Body = bytes.NewReader([]byte("hello"))
	_, err = client("wrong").PutObject(ctx, put)
	var said smithy.APIError
	if !errors.As(err, &said) || said.ErrorCode() != "SignatureDoesNotMatch" {
		return fmt.Errorf("the SDK's client with a wrong secret: %v", err)
	}
	return nil
}

func main() {
	d := &double{objects: map[string][]byte{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(l, d)) }()
	if err := judge(l.Addr().String()); err != nil {
		log.Fatal(err)
	}
	d.objects = map[string][]byte{}
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr(), page.Addr())
	log.Fatal(http.Serve(page, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		_ = json.NewEncoder(w).Encode(d.objects)
	})))
}
