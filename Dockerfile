# docker build -t jitlint . && docker run --rm -v "$PWD:/project:ro" jitlint
FROM python:3.13-slim
COPY . /source
RUN pip install --no-cache-dir /source && rm -r /source
ENV JITLINT_CACHE_DIR=/tmp/jitlint
USER nobody
WORKDIR /project
ENTRYPOINT ["jitlint"]
CMD ["check"]
