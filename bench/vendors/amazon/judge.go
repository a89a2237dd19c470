package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	metricschemas "github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	metrics "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	functions "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/timestreamwrite"
	series "github.com/aws/aws-sdk-go-v2/service/timestreamwrite/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"hyperscale/bench/vendors/sigv4"
)

// here sends what is for Amazon to the double, and leaves its name in the request.
type here string

func (h here) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	r.URL.Scheme, r.URL.Host = "http", string(h)
	return http.DefaultTransport.RoundTrip(r)
}

// judge lets the vendor's clients pass, and fail with another secret.
func (s *service) judge(address string) error {
	client := &http.Client{Transport: here(address)}
	for _, secret := range []string{"another", sigv4.Secret} {
		from := credentials.NewStaticCredentialsProvider(sigv4.Key, secret, "")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for name, ask := range map[string]func() error{
			"CloudWatch": func() error { return askCloudWatch(ctx, client, from) },
			"Lambda":     func() error { return askLambda(ctx, client, from) },
			"Timestream": func() error { return s.askTimestream(ctx, client, from) },
		} {
			err := ask()
			if secret == sigv4.Secret {
				if err != nil {
					return fmt.Errorf("the SDK's client of %s: %w", name, err)
				}
				continue
			}
			var said smithy.APIError
			if !errors.As(err, &said) || said.ErrorCode() != "InvalidSignatureException" {
				return fmt.Errorf("the SDK's client of %s with a wrong secret: %w", name, err)
			}
		}
	}
	if all := s.store.Take(); len(all) != 5 {
		return fmt.Errorf("the SDK's clients left %d things", len(all))
	}
	return nil
}

func askCloudWatch(ctx context.Context, client *http.Client, from aws.CredentialsProvider) error {
	c := cloudwatch.New(cloudwatch.Options{Region: sigv4.Region, HTTPClient: client, Credentials: from, DisableRequestCompression: true},
		func(o *cloudwatch.Options) { o.Protocol = awsjson.New10(metricschemas.GraniteServiceVersion20100801) }) // of those that the service knows
	_, err := c.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("judge"), MetricData: []metrics.MetricDatum{
		{MetricName: aws.String("count"), Timestamp: aws.Time(time.Now()), Value: aws.Float64(7), Unit: metrics.StandardUnitCount, Dimensions: []metrics.Dimension{{Name: aws.String("a"), Value: aws.String("b")}}},
		{MetricName: aws.String("seconds"), Timestamp: aws.Time(time.Now()), Values: []float64{1, 2}, Counts: []float64{3, 4}, Unit: metrics.StandardUnitSeconds, StorageResolution: aws.Int32(1)},
	}})
	return err
}

func askLambda(ctx context.Context, client *http.Client, from aws.CredentialsProvider) error {
	c := lambda.New(lambda.Options{Region: sigv4.Region, HTTPClient: client, Credentials: from})
	in := &lambda.InvokeInput{FunctionName: aws.String("load results"), Qualifier: aws.String("live"), Payload: []byte(`{"schema":"hyperscale.rows/1","rows":[{}]}`), InvocationType: functions.InvocationTypeDryRun}
	if _, err := c.Invoke(ctx, in); err != nil {
		return err
	}
	in.InvocationType = functions.InvocationTypeRequestResponse
	out, err := c.Invoke(ctx, in)
	if err != nil || out.FunctionError != nil {
		return fmt.Errorf("%w, function error %v", err, out)
	}
	in.Payload = []byte(`{"test":"fail"}`)
	if out, err = c.Invoke(ctx, in); err != nil || out.FunctionError == nil {
		return fmt.Errorf("no function error: %w", err)
	}
	return nil
}

func (s *service) askTimestream(ctx context.Context, client *http.Client, from aws.CredentialsProvider) error {
	c := timestreamwrite.New(timestreamwrite.Options{Region: sigv4.Region, HTTPClient: client, Credentials: from, EndpointDiscovery: timestreamwrite.EndpointDiscoveryOptions{EnableEndpointDiscovery: aws.EndpointDiscoveryEnabled}})
	if _, err := c.DescribeTable(ctx, &timestreamwrite.DescribeTableInput{DatabaseName: aws.String("load"), TableName: aws.String("rows")}); err != nil {
		return err
	}
	one := series.Record{
		Dimensions: []series.Dimension{{Name: aws.String("a"), Value: aws.String("b")}}, MeasureName: aws.String("judge"), MeasureValueType: series.MeasureValueTypeMulti,
		MeasureValues: []series.MeasureValue{{Name: aws.String("n"), Value: aws.String("1"), Type: series.MeasureValueTypeBigint}}, Time: aws.String("1000"), TimeUnit: series.TimeUnitMilliseconds, Version: aws.Int64(2),
	}
	in := &timestreamwrite.WriteRecordsInput{DatabaseName: aws.String("load"), TableName: aws.String("rows"), Records: []series.Record{one}}
	for range 2 { // the same again
		if _, err := c.WriteRecords(ctx, in); err != nil {
			return err
		}
	}
	in.Records[0].Version = aws.Int64(1)
	_, err := c.WriteRecords(ctx, in)
	var rejected *series.RejectedRecordsException
	if !errors.As(err, &rejected) || len(rejected.RejectedRecords) != 1 || aws.ToInt64(rejected.RejectedRecords[0].ExistingVersion) != 2 {
		return fmt.Errorf("an older version: %w", err)
	}
	in.Records[0].Version = aws.Int64(3)
	if _, err = c.WriteRecords(ctx, in); err != nil {
		return err
	}
	clear(s.records)
	return nil
}
